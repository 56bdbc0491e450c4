import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readRunning } from '../../src/foundation/running.ts'
import { newUser, printed, type User } from './_cli.ts'

let user: User
beforeEach(() => (user = newUser()))
afterEach(() => user.remove())

const manifest = JSON.parse(readFileSync(new URL('../../oclif.manifest.json', import.meta.url), 'utf8')) as {
  commands: Record<string, { flags: Record<string, unknown> }>
}

/** The parts of a command line that do not exist: the command or its flags. */
function unknownIn(line: string): string[] {
  const [topic, verb] = line.split(' ')
  const command = manifest.commands[`${topic}:${verb}`]
  if (!command) return [`${topic} ${verb}`]
  return [...line.matchAll(/ --([a-z-]+)/g)]
    .map(([, flag]) => flag!)
    .filter((flag) => !(flag in command.flags))
}

const left = () => readdirSync(user.folder).filter((name) => name.startsWith('identity-agent-demo-'))

describe('the demonstration', () => {
  test('runs from two processes to an accepted proof, prints its duration and cleans up', async () => {
    // The user's settings must not reach the daemons, which could not start with these.
    const env = {
      AGENT_HTTP_PORT: 'none',
      ADMIN_TOKEN: 'admin',
      VDR_URL: 'sqlite:/nowhere/vdr.db',
      API_KEY_ENABLED: 'false',
    }
    const { code, out, err } = await user.as(env).run`demo --json`
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const { acme, alice, coldStartMs, flow, changes, scenario } = JSON.parse(out)
    expect(scenario).toBe('present')
    expect(coldStartMs).toEqual({ acme: expect.any(Number), alice: expect.any(Number) })
    expect(flow.flowMs).toBeCloseTo(flow.connectMs + flow.issueMs + flow.presentMs, 0)
    // Each flow passes all its 8, 10 and 8 states, and one DID is published.
    expect(changes).toBe(2 * 26 + 1)
    expect(left()).toEqual([])
    for (const url of [acme, alice]) await expect(fetch(`${url}/_system/health`)).rejects.toThrow()
  })

  test('of all flows prints a command for each step', async () => {
    const { code, out } = await user.run`demo --scenario all --pace 0`
    expect(code).toBe(0)
    const inOrder = [
      'agent tenant create acme',
      'agent connection invite',
      'agent credential offer',
      'CredentialReceived',
      'agent proof present',
      'PresentationVerified ',
      'agent credential revoke',
      'acme   proof       PresentationVerificationFailed',
      'agent onboard submit "$DID_REQUEST" --new --profile alice',
      'agent signin respond "$CHALLENGE" --did $ALICE_DID_FOR_ACME --profile alice',
      'has signed in',
    ]
    expect(
      inOrder.filter(
        (text, index) => out.indexOf(text) <= (index === 0 ? -1 : out.indexOf(inOrder[index - 1]!)),
      ),
    ).toEqual([])
    for (const [, line] of out.matchAll(/\$ agent (.*)/g)) expect(unknownIn(line!), line).toEqual([])
  })

  test('of a connection ends after the connection; paced, it pauses at each line', async () => {
    const start = performance.now()
    const { code, out } = await user.run`demo --scenario connect --no-curl --pace 100`
    const elapsedMs = performance.now() - start
    expect(code).toBe(0)
    expect(out).toMatch(/^Done \(connect\) in /m)
    expect(out).not.toMatch(/curl|agent credential/)
    // Without pauses it takes half of that.
    expect(elapsedMs).toBeGreaterThan(100 * out.match(/^./gm)!.length)
    expect(left()).toEqual([])
  })

  test.each([
    [{ columns: 100, rows: 30 }, [], /^── acme ─+┬── alice ─+$/m],
    [{ columns: 100, rows: 30 }, ['--plain'], /^ {3}alice {2}connection {2}/m],
    [{ columns: 100, rows: 30 }, ['--curl'], /^ {3}\$ curl /m],
  ])('in a terminal of %j with %j prints %s', async (size, flags, shown) => {
    const args = ['demo', '--scenario', 'connect', ...flags]
    const { code, out } = await user.runInTerminal(args, size, { CI: '' })
    expect(code).toBe(0)
    expect(out).toMatch(shown)
    expect(out).toMatch(/[█▀▄]{20}/)
    expect(out.includes('┬')).toBe(String(shown).includes('┬'))
    // NO_COLOR is set: only the QR code has colours.
    // oxlint-disable-next-line no-control-regex
    expect(
      out
        .split('\n')
        .filter((line) => line.includes('\u001b') && !/38;5;231;(?:48;5;16|49)m[█▀▄ ]{20}/.test(line)),
    ).toEqual([])
  })

  test('prints calls as curl commands and state changes with their sender; --keep allows exploring and stopping by the printed commands', async () => {
    const { code, out } = await user.run`demo --keep`
    expect(code).toBe(0)
    // prettier-ignore
    const inOrder = [
        'curl $ACME/wallets -H "x-admin-api-key: $ACME_ADMIN"',
        'curl -X POST $ACME/did-registrar/dids/$ACME_DID/publications',
        'acme   did         PUBLISHED',
        'curl $ACME/connections ',
        '/i?_oobid=',
        'curl $ALICE/connection-invitations -H "apikey: $ALICE_KEY" -H "$JSON" -d \'{"invitation":"\'$INVITATION\'"}\'',
        'alice  connection  ConnectionResponseReceived',
        'curl $ACME/issue-credentials/credential-offers ',
        'alice  credential  OfferReceived',
        '/accept-offer ',
        'acme   credential  RequestReceived',
        '/issue-credential ',
        'alice  credential  CredentialReceived',
        'curl $ACME/present-proof/presentations ',
        'alice  proof       RequestReceived',
        '"action":"request-accept"',
        'acme   proof       PresentationVerified',
        '"action":"presentation-accept"',
        'acme   proof       PresentationAccepted',
        'Again without output: connected in ',
        'Everything took ',
        'Next:',
      ]
    let at = 0
    for (const text of inOrder) {
      const found = out.indexOf(text, at)
      expect(found, `${text} in its place`).toBeGreaterThan(-1)
      at = found
    }

    const [folder] = left()
    const env = { AGENT_CONFIG_DIR: join(user.folder, folder!, 'config'), AGENT_DATA_DIR: '' }
    expect(out).toContain(`export AGENT_CONFIG_DIR=${env.AGENT_CONFIG_DIR}`)
    const commands = [...out.matchAll(/agent\.cjs ([\w ]+--profile \w+)/g)].map(([, command]) =>
      command!.split(' '),
    )
    expect(commands.length).toBeGreaterThan(4)
    for (const command of commands) expect(await user.run(command, { env })).toMatchObject({ code: 0 })
    expect((await user.as(env).run`daemon status --profile acme`).code).toBe(7)
    expect((await user.as(env).run`daemon status --profile alice`).code).toBe(7)
  })

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'that is ended by %s cleans up all the same (130)',
    async (signal) => {
      const demo = user.spawn`demo`
      await printed(demo.stdout, '   alice answers')
      const running = readRunning(join(user.folder, left()[0]!, 'acme'))
      demo.kill(signal)
      expect((await demo).exitCode).toBe(130)
      expect(left()).toEqual([])
      await expect(fetch(`${running!.url}/_system/health`)).rejects.toThrow()
    },
  )

  test('finishes after its output is closed', async () => {
    const demo = user.spawn`demo --scenario connect`
    await printed(demo.stdout, '   acme answers')
    demo.stdout.destroy()
    expect((await demo).exitCode).toBe(0)
    expect(left()).toEqual([])
  })

  test('prints the reason of a failure, exits with 1 and cleans up', async () => {
    const { code, err } = await user.as({ NODE_OPTIONS: '--require=./no-such-file.cjs' }).run`demo`
    expect(code).toBe(1)
    expect(err).toContain('no-such-file')
    expect(left()).toEqual([])
  })
})
