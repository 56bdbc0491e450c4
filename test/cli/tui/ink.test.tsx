/** Ink shows the frames that the other tests compute, so those need no Ink. */
import { setImmediate as immediate } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { colour, plain, uncoloured } from '../../../cli/format/colour.ts'
import { codes, recorded, showDashboard, type Dashboard, type Options } from './_dashboard.ts'
import { renderThroughInk, shownBy } from './_ink.tsx'
import { now, wallet } from './_wallet.ts'

let dashboard: Dashboard
let ink: ReturnType<typeof renderThroughInk>
afterEach(() => {
  ink.close()
  dashboard.close()
})

/** Characters of two columns, of one, and of none. */
const label = '北京 café e\u0301 👩‍🚀 ❤️'

/** The dashboard, rendered through Ink as well. `isSame` compares what both show. */
function showBoth(options: Options = {}) {
  const labelled = { ...wallet, connections: wallet.connections.map((each) => ({ ...each, label })) }
  const { daemon, store } = recorded(labelled)
  dashboard = showDashboard(daemon, store, { clock: () => now, ...options })
  ink = renderThroughInk(dashboard)
  const { frame } = dashboard
  const isSame = () => expect(shownBy(ink.inkFrame())).toBe(shownBy(frame()))
  return { ...dashboard, ...ink, isSame }
}

/** Keys that lead to a list, larger details, a question, a form, a box in front of the lists, and a line that is typed. */
const ways = [
  ['1'],
  ['2', 'j', 'j'],
  [codes.enter],
  [codes.escape, 'r'],
  ['n', 'n', '1'],
  [codes.escape, '?'],
  [codes.escape, ':cred'],
]

test.each([
  ['colours', colour({ isTTY: true }, {}), '\u001b[36;7m'],
  ['reverse video', uncoloured, '\u001b[7m'],
  ['no attributes', plain, ''],
])('Ink shows the computed frame, with %s', async (_, paint, selected) => {
  const { type, inkFrame, isSame } = showBoth({ paint })
  expect(shownBy(inkFrame())).toContain(`${selected}北${selected}京`)
  for (const keys of ways) {
    await type(...keys)
    isSame()
  }
})

test('Ink shows the computed frame in words and ASCII characters, and places the cursor', async () => {
  const { type, inkFrame, cursor, isSame } = showBoth({ isPlain: true })
  for (const keys of ways) {
    await type(...keys)
    isSame()
  }
  await type(codes.escape, '2', '/', 'hold')
  isSame()
  expect(inkFrame()).not.toMatch(/[│┌›▏]/)
  const lines = () => inkFrame().split('\n')
  const typed = cursor()!
  expect(lines()[typed.row]!.slice(0, typed.column + 1)).toMatch(/hold_$/)
  await type(codes.enter)
  expect(cursor()!.column).toBe(0)
  expect(lines()[cursor()!.row]).toContain('RequestSent')
})

test('Ink shows the computed frame after the size of the terminal changes, and a QR code where there is room', async () => {
  const { type, resize, inkFrame, isSame } = showBoth()
  for (const [columns, rows] of [
    [200, 60],
    [120, 30],
    [59, 24],
    [60, 16],
    [90, 50],
  ] as const) {
    resize({ columns, rows })
    await immediate()
    isSame()
    expect(inkFrame().split('\n')).toHaveLength(rows)
  }
  await type('Q')
  isSame()
  expect(inkFrame()).toContain('█')
})
