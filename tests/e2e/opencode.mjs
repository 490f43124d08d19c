// Plays OpenCode: loads a plugin, calls its hooks one after the other, and prints what each made of its output, and in how many
// milliseconds. The play is the first argument: `{"plugin": path, "sessions": {id: session}, "steps": [{"hook", "input", "output"}]}`.

import { performance } from "node:perf_hooks"
import { pathToFileURL } from "node:url"

const { plugin, sessions, steps } = JSON.parse(process.argv[2])
const client = {
  session: {
    get: async ({ path }) => {
      if (!(path.id in sessions)) throw new Error("no such session")
      return { data: sessions[path.id] }
    },
  },
}
const exported = Object.values(await import(pathToFileURL(plugin)))
// As OpenCode does: every export is a plugin.
const loaded = await Promise.all(exported.map((load) => load({ client, directory: "/", worktree: "/", project: { id: "prj" } })))
const results = []
for (const { hook, input, output } of steps) {
  const started = performance.now()
  for (const hooks of loaded) await hooks[hook](input, output)
  results.push({ output, millis: performance.now() - started })
}
console.log(JSON.stringify(results))
