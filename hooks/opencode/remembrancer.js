// Remembrancer for OpenCode: puts what is remembered beside each prompt, and says nothing on any doubt.
//
// `remembrancer install --agent opencode` writes this file and names the hook by its path in it; `remembrancer uninstall` takes the
// file away. The hook asks the daemon, keeps its own time and never fails; what it prints is `{"context": …}`, or nothing.

import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const HOOK = "remembrancer-hook"

/** No prompt waits longer than this for an answer, in milliseconds. */
const BUDGET_MS = 240

/**
 * Runs the hook on a payload.
 *
 * @param {object} payload
 * @returns {Promise<string>} the context to add; empty if there is none
 */
function ask(payload) {
  return new Promise((resolve) => {
    let printed = ""
    const hook = spawn(HOOK, ["--agent", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
    hook.on("error", () => resolve(""))
    hook.stdin.on("error", () => {})
    hook.stdout.setEncoding("utf8")
    hook.stdout.on("data", (text) => {
      printed += text
    })
    hook.on("close", () => resolve(contextIn(printed)))
    hook.stdin.end(JSON.stringify(payload))
  })
}

/**
 * @param {string} printed what the hook printed
 * @returns {string}
 */
function contextIn(printed) {
  try {
    const { context } = JSON.parse(printed)
    return typeof context === "string" ? context : ""
  } catch {
    return ""
  }
}

/**
 * Does the work, and gives up on it when the budget is spent or it fails. A hook that is given up ends by itself.
 *
 * @param {() => Promise<string>} work
 * @returns {Promise<string>}
 */
function inTime(work) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(""), BUDGET_MS)
    const end = (context) => {
      clearTimeout(timer)
      resolve(context)
    }
    // `async`, so that what fails at once fails here, too.
    const working = (async () => work())()
    working.then(end, () => end(""))
  })
}

/**
 * What a person typed, of the parts of a message.
 *
 * @param {Array<{type: string, text?: string, synthetic?: boolean, ignored?: boolean}>} parts
 * @returns {string}
 */
function said(parts) {
  const spoken = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
  return spoken.map((part) => part.text).join("\n")
}

/**
 * The file that holds a session, of those that OpenCode has had; `undefined` where there is none.
 *
 * @param {string} project its id
 * @param {string} session its id
 * @returns {string | undefined}
 */
function transcript(project, session) {
  const data = join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "opencode")
  const files = [join(data, "storage", "session", project, `${session}.json`), process.env.OPENCODE_DB, join(data, "opencode.db")]
  return files.find((file) => file && existsSync(file))
}

/**
 * The same hook, of which OpenCode never hears that something went wrong.
 *
 * @param {(...args: any[]) => Promise<void>} hook
 */
const quietly = (hook) => async (...args) => {
  try {
    await hook(...args)
  } catch {
    // A prompt is never failed by us.
  }
}

export const Remembrancer = async ({ client, directory, project }) => {
  /** The command that a session is about to run, as it was typed: OpenCode puts a template in its place. */
  const commands = new Map()
  /** What each session that was compacted is reminded of, as a promise. */
  const reminders = new Map()

  /** Where a person's session works; nothing for a subagent's, or where OpenCode does not say. */
  const folder = async (session) => {
    const { data } = await client.session.get({ path: { id: session } })
    return data && !data.parentID ? data.directory || directory : undefined
  }

  const recall = async (event, session, rest) => {
    const cwd = await folder(session)
    return cwd ? ask({ hook_event_name: event, session_id: session, cwd, ...rest }) : ""
  }

  const hooks = {
    "command.execute.before": async ({ sessionID, command, arguments: words }) => {
      commands.set(sessionID, `/${command} ${words ?? ""}`)
    },

    "chat.message": async ({ sessionID }, { message, parts }) => {
      const text = said(parts)
      const prompt = text && (commands.get(sessionID) ?? text)
      commands.delete(sessionID)
      if (!prompt) return
      const context = await inTime(() => recall("chat.message", sessionID, { prompt, prompt_id: message.id }))
      if (!context) return
      // Parts are ordered by their ids, in which OpenCode's own begin with a time: this one comes last.
      const id = `prt_remembrancer_${message.id}`
      parts.push({ id, sessionID, messageID: message.id, type: "text", text: context, synthetic: true })
    },

    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      const context = await reminders.get(sessionID)
      if (context) system.push(context)
    },

    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type === "session.compacted") {
        reminders.set(session, inTime(() => recall("session.compacted", session)))
      } else if (event.type === "session.idle") {
        const transcript_path = transcript(project.id, session)
        if (transcript_path) inTime(() => ask({ hook_event_name: "session.idle", session_id: session, transcript_path }))
      } else if (event.type === "session.deleted") {
        reminders.delete(event.properties.info.id)
      }
    },
  }
  return Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, quietly(hook)]))
}
