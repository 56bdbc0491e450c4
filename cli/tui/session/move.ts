/** Keys that move in the lists. */
import type { Data } from '../data/data.ts'
import { paneNames } from '../panes/pane.ts'
import { helpPage, stepOf } from './page.ts'
import { goTo, layoutOf, paneAfter, select, selectionOf, type Ui } from './ui.ts'

/** Returns the state after a key. Undefined for other keys. `lines` is the number of lines of the details. */
export function move(data: Data, before: Ui, key: string, lines: number): Ui | undefined {
  const after = moved(data, before, key, lines)
  // A key press dismisses the notice.
  return after && before.notice?.is !== 'busy' ? { ...after, notice: undefined } : after
}

function moved(data: Data, ui: Ui, key: string, lines: number): Ui | undefined {
  const { list, details } = layoutOf(ui)
  const last = Math.max(lines - details.height, 0)
  const scrollBy = (step: number): Ui => ({ ...ui, scroll: Math.min(Math.max(ui.scroll + step, 0), last) })
  const by = (step: number): Ui =>
    ui.isZoomed ? scrollBy(step) : select(data, ui, selectionOf(data, ui).index + step)
  const page = Math.max((ui.isZoomed ? details : list).height - 1, 1)
  const pane = paneNames[Number(key) - 1]
  if (pane) return goTo(ui, pane)
  const step = stepOf(key, page)
  if (step !== undefined) return by(step)
  switch (key) {
    case 'tab':
    case 'right':
    case 'l':
      return goTo(ui, paneAfter(ui.pane, 1))
    case 'shift-tab':
    case 'left':
    case 'h':
      return goTo(ui, paneAfter(ui.pane, -1))
    case 'J':
      return scrollBy(1)
    case 'K':
      return scrollBy(-1)
    case 'enter':
      return selectionOf(data, ui).item === undefined ? ui : { ...ui, isZoomed: !ui.isZoomed, scroll: 0 }
    case 'escape':
      if (ui.notice) return ui
      return ui.isZoomed
        ? { ...ui, isZoomed: false, scroll: 0 }
        : { ...ui, filters: { ...ui.filters, [ui.pane]: '' } }
    case ':':
      return { ...ui, prompt: { kind: 'command', text: '', at: ui.history.length }, isZoomed: false }
    case '/':
      return { ...ui, prompt: { kind: 'filter' }, isZoomed: false }
    case '?':
      return { ...ui, prompt: helpPage() }
    default:
      return undefined
  }
}
