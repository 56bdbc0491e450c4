/** The root component of the dashboard. */
import { Box } from 'ink'
import { useSyncExternalStore } from 'react'
import type { Paint } from '../../format/colour.ts'
import type { Rendering } from '../../qr/draw.ts'
import { isNew, layoutOf, least } from '../session/ui.ts'
import type { Session, Snapshot } from '../session/session.ts'
import { Details, List } from './list.tsx'
import { header, keys, notice, tabs } from './frame.tsx'
import { FirstSteps, Invitation, PageOf, TooSmall } from './pages.tsx'
import { Question } from './question.tsx'
import { Colours, Rows } from './row.tsx'

export type Looks = {
  paint: Paint
  /** The renderings of QR codes, or why there are none. */
  renderings: readonly Rendering[] | { reason: string }
  /** The profile and the daemon, for the header. */
  where: string
  /** Adds the profile of the dashboard to a suggested command. */
  forSameDaemon: (command: string) => string
}

export function App({ session, looks }: { session: Session; looks: Looks }) {
  const snapshot = useSyncExternalStore(session.subscribe, session.get)
  return (
    <Colours value={looks.paint}>
      <Page snapshot={snapshot} looks={looks} />
    </Colours>
  )
}

function Page({ snapshot, looks }: { snapshot: Snapshot; looks: Looks }) {
  const { size, prompt } = snapshot.ui
  if (size.columns < least.columns || size.rows < least.rows) return <TooSmall size={size} />
  if (prompt?.kind === 'page') return <PageOf page={prompt} size={size} />
  if (prompt?.kind === 'qr')
    return <Invitation title={prompt.title} url={prompt.url} size={size} renderings={looks.renderings} />
  const above = [header(snapshot, looks.where), tabs(snapshot)]
  const noticeRows = notice(snapshot)
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      <Rows rows={above} height={above.length} width={size.columns} />
      <Body snapshot={snapshot} looks={looks} noticeLines={noticeRows.length} />
      <Rows rows={[...noticeRows, keys(snapshot)]} height={noticeRows.length + 1} width={size.columns} />
    </Box>
  )
}

function Body({ snapshot, looks, noticeLines }: { snapshot: Snapshot; looks: Looks; noticeLines: number }) {
  const { data, ui } = snapshot
  const { isWide, listColumns, detailColumns, list, details, body } = layoutOf(ui, noticeLines)
  const question = ui.prompt && 'answer' in ui.prompt ? ui.prompt : undefined
  const lower = question ? (
    <Question prompt={question} width={detailColumns} height={details} />
  ) : (
    <Details snapshot={snapshot} width={detailColumns} height={details} />
  )
  if (isNew(data) && !question && ui.pane !== 'webhooks' && ui.pane !== 'events')
    return <FirstSteps width={ui.size.columns} height={body} forSameDaemon={looks.forSameDaemon} />
  return (
    <Box flexDirection={isWide ? 'row' : 'column'} height={body} columnGap={isWide ? 2 : 0}>
      {list > 0 && <List snapshot={snapshot} width={listColumns} height={list} />}
      {lower}
    </Box>
  )
}
