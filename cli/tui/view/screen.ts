/** The whole screen as lines. */
import type { Rendering } from '../../qr/draw.ts'
import type { Snapshot } from '../session/session.ts'
import { isNew, layoutOf, least } from '../session/ui.ts'
import { header, keys, notice, tabs } from './bars.ts'
import { beside, fit, framed, over, type Line } from './compose.ts'
import { detailBlocks, listBlock } from './list.ts'
import { firstSteps, helpBox, invitationPage, pageOf, tooSmall } from './pages.ts'
import { questionBlock } from './question.ts'

export type Looks = {
  /** The renderings of QR codes, or why there are none. */
  renderings: readonly Rendering[] | { reason: string }
  /** The profile, the tenant and the address of the daemon, for the header. */
  where: readonly string[]
  /** Adds the profile of the dashboard to a suggested command. */
  forSameDaemon: (command: string) => string
}

/** Returns the lines of the screen. Each has exactly as many columns as the screen. */
export function screenOf(snapshot: Snapshot, looks: Looks): Line[] {
  const { ui } = snapshot
  const { size, prompt } = ui
  if (size.columns < least.columns || size.rows < least.rows) return tooSmall(size)
  if (prompt?.kind === 'qr') return invitationPage(prompt, ui, looks)
  if (prompt?.kind !== 'page') return lists(snapshot, looks)
  if (!prompt.isOver || ui.isPlain) return pageOf(prompt, ui)
  const behind = lists({ ...snapshot, ui: { ...ui, prompt: undefined } }, looks)
  const box = helpBox(prompt, ui)
  return over(behind, box.lines, box.width, size.columns)
}

function lists(snapshot: Snapshot, looks: Looks): Line[] {
  const { columns } = snapshot.ui.size
  const noticeRows = notice(snapshot)
  return [
    header(snapshot, looks.where),
    tabs(snapshot),
    ...body(snapshot, looks, noticeRows.length),
    ...noticeRows,
    keys(snapshot),
  ].map((line) => fit(line, columns))
}

function body(snapshot: Snapshot, { forSameDaemon }: Looks, noticeLines: number): Line[] {
  const { data, ui } = snapshot
  const { size, isPlain, prompt } = ui
  const layout = layoutOf(ui, noticeLines)
  const question = prompt && 'answer' in prompt ? questionBlock(prompt, layout.details) : undefined
  if (isNew(data) && !question && ui.pane !== 'webhooks' && ui.pane !== 'events')
    return framed([firstSteps(layout.body - (isPlain ? 1 : 2), forSameDaemon)], size.columns, isPlain)
  const [details, aside] = detailBlocks(snapshot, layout)
  const lower = question ?? details
  if (ui.isZoomed) return framed([lower], size.columns, isPlain)
  const list = listBlock(snapshot, layout)
  if (!layout.isWide) return framed([list, lower], size.columns, isPlain)
  return beside(
    framed([list], layout.list.width, isPlain),
    framed([lower], layout.details.width, isPlain),
    ...(aside && layout.aside ? [framed([aside], layout.aside.width, isPlain)] : []),
  )
}
