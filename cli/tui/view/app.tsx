/** The whole screen. */
import { Box, type DOMElement } from 'ink'
import { useLayoutEffect, useRef, useSyncExternalStore } from 'react'
import type { Paint } from '../../format/colour.ts'
import type { Session, Snapshot } from '../session/session.ts'
import { isNew, layoutOf, least } from '../session/ui.ts'
import { Header, Keys, noticeOf, Tabs, TypedLine } from './bars.tsx'
import { Details, List } from './list.tsx'
import { FirstSteps, HelpBox, InvitationPage, PageView, TooSmall, type QrLooks } from './pages.tsx'
import { Lines, ScreenContext } from './text.tsx'

export type Looks = QrLooks & {
  paint: Paint
  /** The profile, the tenant and the address of the daemon, for the header. */
  where: readonly string[]
}

type Props = {
  session: Session
  looks: Looks
  /** Places the cursor, for screen readers. */
  placeCursor?: (at: Position | undefined) => void
}

export function App({ session, looks, placeCursor }: Props) {
  const snapshot = useSyncExternalStore(session.subscribe, session.get)
  const cursor = useRef<DOMElement>(null)
  useLayoutEffect(() => {
    placeCursor?.(positionOf(cursor.current))
  })
  const { columns, rows } = snapshot.ui.size
  return (
    <ScreenContext value={{ paint: looks.paint, isPlain: snapshot.ui.isPlain, cursor }}>
      <Box flexDirection="column" width={columns} height={rows}>
        <Screen snapshot={snapshot} looks={looks} />
      </Box>
    </ScreenContext>
  )
}

type Position = { row: number; column: number }

/** Returns the upper left corner of a box on the screen, from 0. */
function positionOf(box: DOMElement | null): Position | undefined {
  if (!box) return undefined
  const at = { row: 0, column: 0 }
  for (let node: DOMElement | undefined = box; node; node = node.parentNode) {
    at.row += node.yogaNode?.getComputedTop() ?? 0
    at.column += node.yogaNode?.getComputedLeft() ?? 0
  }
  return at
}

type ScreenProps = { snapshot: Snapshot; looks: Looks }

function Screen({ snapshot, looks }: ScreenProps) {
  const { ui } = snapshot
  const { size, prompt } = ui
  if (size.columns < least.columns || size.rows < least.rows) return <TooSmall {...size} />
  if (prompt?.kind === 'qr') return <InvitationPage prompt={prompt} ui={ui} looks={looks} />
  if (prompt?.kind === 'page' && (!prompt.isBox || ui.isPlain)) return <PageView page={prompt} ui={ui} />
  const isTyping = prompt?.kind === 'filter' || prompt?.kind === 'command'
  const notice = isTyping ? [] : noticeOf(snapshot)
  return (
    <>
      <Header snapshot={snapshot} where={looks.where} />
      <Tabs snapshot={snapshot} />
      {prompt?.kind === 'page' ? (
        <HelpBox page={prompt} ui={ui} />
      ) : (
        <Body snapshot={snapshot} looks={looks} noticeLines={isTyping ? 1 : notice.length} />
      )}
      {isTyping && <TypedLine snapshot={snapshot} />}
      <Lines rows={notice} />
      <Keys snapshot={snapshot} />
    </>
  )
}

function Body({ snapshot, looks, noticeLines }: ScreenProps & { noticeLines: number }) {
  const { data, ui } = snapshot
  const layout = layoutOf(ui, noticeLines)
  const isAsked = ui.prompt !== undefined && 'answer' in ui.prompt
  if (isNew(data) && !isAsked && ui.pane !== 'webhooks' && ui.pane !== 'events')
    return <FirstSteps width={ui.size.columns} height={layout.body - (ui.isPlain ? 1 : 2)} looks={looks} />
  return (
    <Box flexDirection={layout.isWide ? 'row' : 'column'}>
      {!ui.isZoomed && <List snapshot={snapshot} layout={layout} />}
      <Details snapshot={snapshot} layout={layout} />
    </Box>
  )
}
