/** `agent tui` as it is built, in real terminals. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bin, newUser, type User } from '../../commands/_cli.ts'
import { until } from '../../support/tenants.ts'
import { hasTmux, startTmux } from './_tmux.ts'

const envOf = ({ folder }: User) => ({
  NODE_ENV: 'production',
  NO_COLOR: '1',
  AGENT_CONFIG_DIR: join(folder, 'config'),
  AGENT_DATA_DIR: join(folder, 'data'),
})

const dashboard = [process.execPath, bin, 'tui']

describe.skipIf(!hasTmux)('in tmux, without which this is skipped', () => {
  const ledger = mkdtempSync(join(tmpdir(), 'identity-agent-'))
  const env = { VDR_URL: `sqlite:${join(ledger, 'vdr.db')}` }
  const [issuer, holder] = [newUser(), newUser()]
  let tmux: ReturnType<typeof startTmux>

  beforeAll(async () => {
    tmux = startTmux()
    await Promise.all([issuer, holder].map((user) => user.as(env).run`daemon start`))
  })

  afterAll(async () => {
    tmux[Symbol.dispose]()
    await Promise.all([issuer, holder].map((user) => user.run`daemon stop`))
    for (const user of [issuer, holder]) user.remove()
    rmSync(ledger, { recursive: true, force: true })
  })

  test('the dashboard starts the daemon after a question, and takes keys', async () => {
    const newcomer = newUser()
    await newcomer.run`daemon start`
    await newcomer.run`daemon stop`
    const terminal = tmux.open(dashboard, { ...envOf(newcomer), CI: '' })
    await terminal.shows('The daemon is not running. Start it now? [Y/n]')
    await terminal.after('Enter').shows('This wallet is new')
    await terminal.after('4').shows('[4 DIDs 0]')
    await terminal.after('q').shows('exit 0')
    await newcomer.run`daemon stop`
    newcomer.remove()
  })

  test('two users connect, issue, present and verify by keys alone, and continue after a restart', async () => {
    const left = tmux.open([...dashboard, '--profile', 'local'], envOf(issuer))
    const right = tmux.open(dashboard, envOf(holder))
    await left.shows('This wallet is new')
    await left.after('n', '1').shows('Invite someone to connect')
    await left.after('Bob', 'Enter').shows('Invitation “Bob”')
    left.press('y')

    await right.shows('This wallet is new')
    await right.paste()
    await right.shows('› invitation  http://')
    await right.after('Enter').shows('The invitation asks to connect.')
    await right.after('y').shows('ConnectionResponseReceived (connected)')
    await left.shows('ConnectionResponseSent (connected)')

    await left.after('n', '3').shows('Offer a credential: over which connection?')
    await left.after('Enter').shows('a new DID, made and published now')
    await left.after('Enter').shows('Claims of the credential')
    left.press('name=Alice', 'Enter')
    await right.after('2').shows('OfferReceived (waiting for your answer)')
    await right.after('a').shows('a new DID, made now')
    right.press('Enter')
    await left.shows('RequestReceived (the holder has accepted the offer)')

    await left.after('i').shows('CredentialSent (issued)')
    await right.shows('CredentialReceived (in your wallet)')

    await left.after('n', '4').shows('Request a proof: from which connection?')
    await left.after('Enter').shows('Proof request')
    left.press('Tab', 'any', 'Enter')
    await right.after('3').shows('RequestReceived (waiting for your answer)')
    await right.after('p').shows('Which credential do you present?')
    await right.after('Enter').shows('PresentationSent (presented)')
    await left.shows('PresentationVerified (the presentation is valid, issuer not')
    await left.after('v').shows('PresentationAccepted (accepted, issuer not')

    await right.after('1', 'T').shows('─ Trace ─')
    await Promise.all([issuer, holder].map((user) => user.run`daemon stop`))
    await left.shows('the daemon is away, trying again')
    // A hint is a command for the same profile.
    await left.after('n', '5').shows(/Try:\s+agent\s+daemon\s+start\s+--profile\s+local/)
    await right.shows(/✗ No daemon answers .*agent[\s│]+daemon[\s│]+start/s)
    await Promise.all([issuer, holder].map((user) => user.as(env).run`daemon start`))
    await left.shows('● live')
    // The page loads again as well, and its problem goes.
    await right.shows(/^┌─ Trace[^✗]*$/)
    await right.after('Escape', '3').shows('[3 Proofs')
    await left.after('n', '5').shows('The DID is created')

    right.resize(130, 40)
    await right.shows(/STATE +││ proof /)
    right.resize(40, 10)
    await right.shows('The terminal has 40×10')
    right.resize(80, 24)
    await right.shows('presented   1 presentation')
    for (const terminal of [left, right]) {
      expect(terminal.is('alternate_on')).toBe('1')
      await terminal.after('q').shows('exit 0')
      expect([terminal.is('alternate_on'), terminal.is('cursor_flag')]).toEqual(['0', '1'])
      expect(terminal.screen()).not.toContain('Details')
    }
  })

  test('the screen is filled at every size, and has 80×24 characters in a terminal without a size', async () => {
    const filled = (columns: number, rows: number) =>
      new RegExp(
        `^agent .{${columns - 12}}● live\n(.*\n){${rows - 2}}.{${columns - 21}}n new {2}\\? help {2}q quit\n$`,
      )
    const terminal = tmux.open(dashboard, envOf(issuer))
    for (const [columns, rows] of [
      [80, 24],
      [100, 50],
      [120, 40],
    ] as const) {
      terminal.resize(columns, rows)
      await terminal.shows(filled(columns, rows))
    }
    // In one chunk: a key that was pressed after Esc is a key of its own.
    await terminal.after('n', '1').shows('Tab next field   Enter done   Esc cancel')
    await terminal.after('Escape', '6', '?').shows('─ Keys (Esc closes) ─')
    await terminal.after('Escape').shows(/^agent .*\n.*\[6 Events.*\n┌─ Events ─/)
    await terminal.after('q').shows('exit 0')

    const command = `stty columns 0 rows 0; exec ${process.execPath} ${bin} tui`
    const script = ['script', '--quiet', '--return', '--command', command, '/dev/null']
    const without = tmux.open(script, envOf(issuer))
    await without.shows(filled(80, 24))
    // `script` outlives its terminal, and the dashboard in it too.
    await without.after('q').shows('exit 0')
  })

  test.each([
    ['SIGTERM', '143'],
    ['SIGHUP', '129'],
  ] as const)(
    '%s gives the terminal back',
    async (signal, status) => {
      const terminal = tmux.open(dashboard, envOf(issuer))
      await terminal.shows('● live')
      expect(terminal.is('cursor_flag')).toBe('0')
      process.kill(terminal.pid(), signal)
      await terminal.shows(`exit ${status}`)
      expect([terminal.is('alternate_on'), terminal.is('cursor_flag')]).toEqual(['0', '1'])
    },
    60_000,
  )

  test('Ctrl-Z restores the terminal until the program resumes', async () => {
    const terminal = tmux.open(dashboard, envOf(issuer))
    await terminal.shows('● live')
    await terminal.after('C-z').shows(/^\s*$/)
    expect([terminal.is('alternate_on'), terminal.is('cursor_flag')]).toEqual(['0', '1'])
    process.kill(terminal.pid(), 'SIGCONT')
    await terminal.shows('● live')
    await terminal.after('q').shows('exit 0')
  })

  test('a key pressed as soon as the screen is taken is a key, not a signal', async () => {
    const terminal = tmux.open(dashboard, envOf(issuer))
    await until(
      'the screen is taken',
      async () => terminal.is('alternate_on'),
      (value) => value === '1',
    )
    terminal.press('C-z')
    await until(
      'the screen is given back',
      async () => terminal.is('alternate_on'),
      (value) => value === '0',
    )
    process.kill(terminal.pid(), 'SIGCONT')
    await terminal.shows('● live')
    await terminal.after('q').shows('exit 0')
  })

  test('NO_COLOR disables colours', async () => {
    const { NO_COLOR: _none, ...coloured } = envOf(issuer)
    const [plain, bright] = [tmux.open(dashboard, envOf(issuer)), tmux.open(dashboard, coloured)]
    for (const terminal of [plain, bright]) await terminal.shows('● live')
    // oxlint-disable-next-line no-control-regex -- escape sequences of colours
    expect(plain.coloured()).not.toMatch(/\u001b\[[\d;]*[34][0-8]/)
    expect(bright.coloured()).toContain('\u001b[32m● live')
    for (const terminal of [plain, bright]) terminal.press('q')
  })

  test('a missing daemon is reported before the screen changes', async () => {
    const terminal = tmux.open([...dashboard, '--url', 'http://127.0.0.1:1'], envOf(issuer))
    expect(await terminal.shows('exit 7')).toContain('Try: agent daemon start')
  })
})

test.skipIf(!hasTmux)('a terminal that cannot move its cursor is refused', async () => {
  using tmux = startTmux()
  const user = newUser()
  const terminal = tmux.open(['env', 'TERM=dumb', ...dashboard], envOf(user))
  expect(await terminal.shows('exit 2')).toContain('TERM=dumb')
  user.remove()
})

test('without a terminal it says so', async () => {
  const user = newUser()
  const { code, err } = await user.run`tui`
  user.remove()
  expect([code, err]).toEqual([2, expect.stringContaining('The dashboard needs a terminal')])
})
