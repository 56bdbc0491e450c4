/** The dashboard through Ink, as a terminal gets it, to compare with the frames that `showDashboard` computes. */
import { render } from 'ink-testing-library'
import { App } from '../../../cli/tui/view/app.tsx'
import type { Dashboard } from './_dashboard.ts'

type Cursor = { row: number; column: number } | undefined

/** Renders the session of a dashboard through Ink as well. */
export function renderThroughInk({ session, looks }: Pick<Dashboard, 'session' | 'looks'>) {
  let cursor: Cursor
  const { lastFrame, unmount } = render(
    <App session={session} looks={looks} placeCursor={(at) => void (cursor = at)} />,
  )
  return {
    /** The frame that Ink wrote last. */
    inkFrame: () => lastFrame() ?? '',
    /** Where Ink placed the cursor last. */
    cursor: () => cursor,
    close: unmount,
  }
}

/** Attributes by the codes of “Select Graphic Rendition” (ECMA-48): those that set one, and the one that ends it. */
const attributes = [
  [/^(?:3[0-7]|38;5;\d+)$/, '39'],
  [/^(?:4[0-7]|48;5;\d+)$/, '49'],
  [/^[12]$/, '22'],
  [/^7$/, '27'],
] as const

/**
 * The characters of a frame as a terminal shows them: each one after the codes of its attributes, without blanks at the ends of lines
 * and of the frame. Ink writes the same attributes as other sequences.
 */
export function shownBy(frame: string): string {
  const set = new Map<string, string>()
  // oxlint-disable-next-line no-control-regex -- escape sequences of a terminal
  const cells = Array.from(frame.matchAll(/\u001b\[([\d;]*)m|[^]/gu), ([text, codes]) => {
    if (codes === undefined)
      return set.size === 0 ? text : `\u001b[${[...set.values()].toSorted().join(';')}m${text}`
    for (const [code] of codes.matchAll(/[34]8;5;\d+|\d+/g)) {
      if (code === '0') set.clear()
      for (const [sets, end] of attributes) {
        if (sets.test(code)) set.set(end, code)
        if (code === end) set.delete(end)
      }
    }
    return ''
  })
  return cells.join('').replaceAll(/ +$/gm, '').trimEnd()
}
