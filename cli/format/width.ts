/** How many terminal columns a text takes, and how to make it take fewer. */

/** Characters that take two columns: East Asian wide ones (Unicode annex 11, by blocks) and emoji, also those that a selector makes one. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
/** What takes none: marks and joiners that stand by themselves. */
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
// oxlint-disable-next-line no-control-regex
const ascii = /^[\u0000-\u007f]*$/

/** Columns of a line without escape sequences. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length
  return graphemes(text).reduce((sum, each) => sum + (invisible.test(each) ? 0 : wide.test(each) ? 2 : 1), 0)
}

/** Shortens a line to `columns`, with an ellipsis where something was left out: at the end, or in the middle for texts whose end matters. */
export function shorten(text: string, columns: number, where: 'end' | 'middle' = 'end'): string {
  if (widthOf(text) <= columns) return text
  const room = Math.max(columns - 1, 0)
  const tail = where === 'middle' ? Math.floor(room / 3) : 0
  const all = graphemes(text)
  return `${take(all, room - tail).join('')}…${take(all.toReversed(), tail).toReversed().join('')}`
}

/** Fills a line up with blanks to `columns`. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(columns - widthOf(text), 0))
}

function take(all: string[], columns: number): string[] {
  let used = 0
  const end = all.findIndex((each) => (used += widthOf(each)) > columns)
  return end === -1 ? all : all.slice(0, end)
}

function graphemes(text: string): string[] {
  return ascii.test(text)
    ? [...text]
    : Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
}
