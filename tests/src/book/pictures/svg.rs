//! A drawing as a file of SVG: shapes and texts are added, one a line; light and dark come with it.

use std::fmt::Write;

/// The width of every drawing, in pixels: that of a page's text.
pub(super) const WIDTH: i32 = 760;

/// Colours and fonts. `c0` to `c5` are candidates, of lightness that stands out from both backgrounds.
const STYLE: &str = "\
text{font:13px ui-sans-serif,system-ui,sans-serif;fill:var(--ink)}
.s{font-size:11.5px;fill:var(--faint)}
.b{font-weight:600}
.m{font-family:ui-monospace,monospace;font-size:12px}
.l{stroke:var(--line);stroke-width:1}
.f{stroke:var(--floor);stroke-width:2;stroke-dasharray:5 4}
.ft{fill:var(--floor)}
.w{stroke-width:3;fill:none;stroke-linecap:round;stroke-linejoin:round}
.off{opacity:.45}
:root{--paper:#fff;--ink:#1f2328;--faint:#59636e;--line:#d1d9e0;--floor:#b3261e;--c0:#0b63c5;--c1:#1a7f37;--c2:#9a6700;--c3:#8250df;--c4:#bf3989;--c5:#57606a}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--faint:#9198a1;--line:#3d444d;--floor:#ff8078;--c0:#58a6ff;--c1:#3fb950;--c2:#d29922;--c3:#bc8cff;--c4:#f778ba;--c5:#9198a1}}";

/// A drawing under way.
pub(super) struct Svg {
    height: i32,
    title: String,
    body: String,
}

impl Svg {
    /// An empty one; `title` is what it shows, in words, for who can't see it.
    pub(super) fn new(height: i32, title: &str) -> Self {
        Self {
            height,
            title: title.to_owned(),
            body: String::new(),
        }
    }

    /// A text that begins at `x`, of a class.
    pub(super) fn text(&mut self, x: i32, y: i32, class: &str, text: &str) {
        self.line(format_args!(
            "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{}</text>",
            escaped(text)
        ));
    }

    /// A text that ends at `x`.
    pub(super) fn text_to(&mut self, x: i32, y: i32, class: &str, text: &str) {
        self.line(format_args!(
            "<text x=\"{x}\" y=\"{y}\" class=\"{class}\" text-anchor=\"end\">{}</text>",
            escaped(text)
        ));
    }

    /// A text around `x`.
    pub(super) fn text_around(&mut self, x: i32, y: i32, class: &str, text: &str) {
        self.line(format_args!(
            "<text x=\"{x}\" y=\"{y}\" class=\"{class}\" text-anchor=\"middle\">{}</text>",
            escaped(text)
        ));
    }

    /// A line of a class.
    pub(super) fn stroke(&mut self, from: (f64, i32), to: (f64, i32), class: &str) {
        self.line(format_args!(
            "<line x1=\"{:.1}\" y1=\"{}\" x2=\"{:.1}\" y2=\"{}\" class=\"{class}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    /// A way through points, in the colour of a candidate.
    pub(super) fn way(&mut self, points: &[(i32, i32)], colour: usize, class: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        self.line(format_args!(
            "<polyline points=\"{}\" class=\"w {class}\" stroke=\"var(--c{})\"/>",
            points.join(" "),
            colour % 6
        ));
    }

    /// A dot in the colour of a candidate.
    pub(super) fn dot(&mut self, x: i32, y: i32, colour: usize, class: &str) {
        self.line(format_args!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"11\" class=\"{class}\" fill=\"var(--c{})\"/>",
            colour % 6
        ));
    }

    /// A bar that begins at `x`, in the colour of a candidate.
    pub(super) fn bar(&mut self, at: (i32, i32), size: (f64, i32), colour: usize, class: &str) {
        self.line(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{:.1}\" height=\"{}\" rx=\"2\" class=\"{class}\" fill=\"var(--c{})\"/>",
            at.0,
            at.1,
            size.0.max(1.0),
            size.1,
            colour % 6
        ));
    }

    /// The file.
    pub(super) fn finish(self) -> String {
        let Self { height, title, body } = self;
        let title = escaped(&title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" \
             aria-label=\"{title}\">\n<title>{title}</title>\n<style>\n{STYLE}\n</style>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"6\" fill=\"var(--paper)\"/>\n{body}</svg>\n"
        )
    }

    fn line(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("invariant: a string takes all");
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
