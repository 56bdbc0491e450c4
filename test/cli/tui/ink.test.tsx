/**
 * The dashboard while it runs in Ink: it draws again after each change, and places the cursor for screen
 * readers.
 */
import { setImmediate as immediate } from 'node:timers/promises'
import { render } from 'ink-testing-library'
import { afterEach, expect, test } from 'vitest'
import { App } from '../../../cli/tui/view/app.tsx'
import { codes, recorded, showDashboard, type Dashboard, type Options } from './_dashboard.ts'
import { now, wallet } from './_wallet.ts'

let dashboard: Dashboard
let ink: ReturnType<typeof render>
afterEach(() => {
  ink.unmount()
  dashboard.close()
})

function showInInk(options: Options = {}) {
  const { daemon, store, set } = recorded(wallet)
  dashboard = showDashboard(daemon, store, { clock: () => now, ...options })
  const { session, looks, type } = dashboard
  let cursor: { row: number; column: number } | undefined
  ink = render(<App session={session} looks={looks} placeCursor={(at) => (cursor = at)} />)
  const lines = () => ink.lastFrame()!.split('\n')
  /** The line of the cursor, up to it and after it. */
  const atCursor = () => {
    const line = lines()[cursor!.row]!
    return [line.slice(0, cursor!.column), line.slice(cursor!.column)]
  }
  return { type, set, session, lines, atCursor, cursor: () => cursor }
}

test('every change is drawn', async () => {
  const { type, set, session, lines } = showInInk()
  await type('2', codes.enter)
  expect(lines().join('\n')).toContain('claim name  Alice')
  set({ ...wallet, link: { is: 'away' } })
  await immediate()
  expect(lines()[0]).toContain('the daemon is away')
  session.resize({ columns: 59, rows: 24 })
  await immediate()
  expect(lines().join(' ')).toContain('The terminal has 59×24')
  session.resize({ columns: 90, rows: 50 })
  await immediate()
  expect(lines()).toHaveLength(50)
  await type(codes.escape, '1', 'Q')
  expect(lines().join('\n')).toContain('█')
})

test('for screen readers the cursor is at the selected line, the chosen option, and the text that is typed', async () => {
  const { type, atCursor, cursor } = showInInk({ isPlain: true })
  await type('2', 'G')
  expect(atCursor()).toEqual(['', expect.stringMatching(/^your turn name=Alice age=42 /)])
  await type('/', 'hold')
  expect(atCursor()).toEqual(['/hold', '▏'])
  await type(codes.escape, 'n', 'j')
  expect(atCursor()).toEqual([' ', expect.stringMatching(/^› 2 /)])
  await type(codes.enter, 'https:')
  expect(atCursor()).toEqual([expect.stringMatching(/ invitation {2}https:$/), '▏'])
  await type(codes.escape, '?')
  expect(cursor()).toBe(undefined)
})
