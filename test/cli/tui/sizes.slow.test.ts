/** `agent tui` as it is built, in real terminals of several sizes. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bin, newUser } from '../../commands/_cli.ts'
import { hasTmux, startTmux, type Terminal } from './_tmux.ts'

const sizes = [
  { columns: 80, rows: 24 },
  { columns: 100, rows: 50 },
  { columns: 120, rows: 40 },
]
const nameOf = ({ columns, rows }: (typeof sizes)[number]) => `${columns}×${rows}`

/** A pty without a size, as `docker run -t` has it; the terminal around it has 80×24. */
const withoutSize = [
  'script',
  '--quiet',
  '--return',
  '--command',
  `stty columns 0 rows 0; exec ${process.execPath} ${bin} tui --profile local`,
]

describe.skipIf(!hasTmux)('in tmux, without which this is skipped', () => {
  const user = newUser()
  const env = {
    NODE_ENV: 'production',
    NO_COLOR: '1',
    AGENT_CONFIG_DIR: join(user.folder, 'config'),
    AGENT_DATA_DIR: join(user.folder, 'data'),
  }
  let tmux: ReturnType<typeof startTmux>
  let terminals: Map<string, Terminal>

  beforeAll(async () => {
    await user.run`daemon start`
    await user.run`connection invite --label ${'the shop'}`
    tmux = startTmux()
    const dashboard = [process.execPath, bin, 'tui', '--profile', 'local']
    terminals = new Map([
      ...sizes.map((size) => [nameOf(size), tmux.open(dashboard, env, size)] as const),
      ['0×0', tmux.open([...withoutSize, '/dev/null'], env)] as const,
    ])
    await Promise.all([...terminals.values()].map((terminal) => terminal.shows('● live')))
  })

  afterAll(async () => {
    // `script` outlives its terminal, and the dashboard in it too.
    await terminals.get('0×0')!.after('q').shows('exit 0')
    tmux[Symbol.dispose]()
    await user.run`daemon stop`
    user.remove()
  })

  /** The lines of a screen; the header is at its top and fills it, the keys are at its foot. */
  function framed(terminal: Terminal, columns: number, rows: number): string[] {
    const lines = terminal.screen().replace(/\n$/, '').split('\n')
    expect(lines).toHaveLength(rows)
    expect(lines[0]).toMatch(/^agent {2}local · default · http:.* {2}● live$/)
    expect(lines[0]).toHaveLength(columns)
    return lines
  }

  test.each([...sizes.map((size) => [nameOf(size), size] as const), ['0×0', sizes[0]!] as const])(
    '%s',
    async (name, { columns, rows }) => {
      const terminal = terminals.get(name)!
      await terminal.shows('the shop')
      const list = framed(terminal, columns, rows)
      expect(list[1]).toContain('[1 Connections 1]')
      const more = `${columns > 95 ? '  Y copy id  L label' : ''}${columns > 100 ? '  Enter larger' : ''}`
      const own = `x withdraw  Q QR  T trace  y copy URL  U copy long URL${more}`
      expect(list.at(-1)).toBe(own.padEnd(columns - 22) + 'n new  ? help  q quit'.padStart(22))
      await terminal.after('n', '1').shows('Tab next field   Enter done   Esc cancel')
      expect(framed(terminal, columns, rows).join('\n')).toMatch(
        /goal +its purpose, which the other side sees +│$/m,
      )
      // In one chunk: a key that was pressed after Esc is a key of its own.
      await terminal.after('Escape', '6', '?').shows('go to another pane')
      const page = terminal.screen().replace(/\n$/, '').split('\n')
      expect(page[0]).toBe(list[0])
      expect(page.some((line) => line.includes('─ Keys (Esc closes) ─'))).toBe(true)
      await terminal.after('Escape').shows(/n new {2}\? help {2}q quit$/m)
      expect(framed(terminal, columns, rows)[1]).toContain('[6 Events')
    },
  )

  test('a hint is a command for the same profile', async () => {
    const page = terminals.get('100×50')!
    await page.after('1', 'T').shows('─ Trace ─')
    await user.run`daemon stop`
    const terminal = terminals.get('80×24')!
    await terminal.shows('the daemon is away, trying again')
    await terminal.after('n', '5').shows(/Try:\s+agent\s+daemon\s+start\s+--profile\s+local/)
    await page.shows(/✗ No daemon answers .*agent[\s│]+daemon[\s│]+start[\s│]+--profile[\s│]+local/s)
    await user.run`daemon start`
    await terminal.shows('● live')
    // The page loads again as well, and its problem goes.
    await page.shows(/^┌─ Trace[^✗]*$/)
  })
})
