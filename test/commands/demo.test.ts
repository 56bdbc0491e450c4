import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readRunning } from '../../src/base/running.ts'
import { newUser, printed, type User } from './_cli.ts'

const slow = 60_000

let user: User
beforeEach(() => (user = newUser()))
afterEach(() => user.remove())

const left = () => readdirSync(user.folder).filter((name) => name.startsWith('identity-agent-demo-'))

describe('the demonstration', () => {
  test('goes from two processes to an accepted proof, says how long it took, and leaves nothing', { timeout: slow }, async () => {
    const { code, out, err } = await user.run(['demo', '--json'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const { acme, alice, coldStartMs, flow, changes } = JSON.parse(out)
    expect(coldStartMs).toEqual({ acme: expect.any(Number), alice: expect.any(Number) })
    expect(flow.flowMs).toBeCloseTo(flow.connectMs + flow.issueMs + flow.presentMs, 0)
    // Service §3.1 to §3.3 have 8 + 10 + 8 states, of which each flow passes all; and one DID is published.
    expect(changes).toBe(2 * 26 + 1)
    expect(left()).toEqual([])
    for (const url of [acme, alice]) await expect(fetch(`${url}/_system/health`)).rejects.toThrow()
  })

  test('tells every call as a curl line and every change of a state with its sender', { timeout: slow }, async () => {
    const { code, out } = await user.run(['demo'])
    expect(code).toBe(0)
    // prettier-ignore
    const inOrder = [
      'curl $ACME/wallets -H "x-admin-api-key: $ACME_ADMIN"',
      'curl -X POST $ACME/did-registrar/dids/$ACME_DID/publications',
      'acme   did         PUBLISHED',
      'curl $ACME/connections ',
      'https://my.domain.com/path?_oob=',
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
      'cold start to healthy',
      'one flow, warm',
    ]
    let at = 0
    for (const text of inOrder) {
      const found = out.indexOf(text, at)
      expect(found, `${text} in its place`).toBeGreaterThan(-1)
      at = found
    }
  })

  test('that is kept can be explored and stopped by the lines it prints', { timeout: slow }, async () => {
    const { code, out } = await user.run(['demo', '--keep'])
    expect(code).toBe(0)
    const [folder] = left()
    const env = { AGENT_CONFIG_DIR: join(user.folder, folder!, 'config'), AGENT_DATA_DIR: '' }
    expect(out).toContain(`export AGENT_CONFIG_DIR=${env.AGENT_CONFIG_DIR}`)
    const commands = [...out.matchAll(/agent\.js ([\w ]+--profile \w+)/g)].map(([, command]) => command!.split(' '))
    expect(commands.length).toBeGreaterThan(4)
    for (const command of commands) expect(await user.run(command, { env })).toMatchObject({ code: 0 })
    expect((await user.run(['daemon', 'status', '--profile', 'acme'], { env })).code).toBe(7)
    expect((await user.run(['daemon', 'status', '--profile', 'alice'], { env })).code).toBe(7)
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('that is ended by %s cleans up all the same (130)', { timeout: slow }, async (signal) => {
    const demo = user.spawn(['demo'])
    await printed(demo.stdout, 'alice answers')
    const running = readRunning(join(user.folder, left()[0]!, 'acme'))
    demo.kill(signal)
    expect((await demo).exitCode).toBe(130)
    expect(left()).toEqual([])
    await expect(fetch(`${running!.url}/_system/health`)).rejects.toThrow()
  })

  test('goes on to its end when nobody reads any more', { timeout: slow }, async () => {
    const demo = user.spawn(['demo'])
    await printed(demo.stdout, 'acme answers')
    demo.stdout.destroy()
    expect((await demo).exitCode).toBe(0)
    expect(left()).toEqual([])
  })

  test('that fails says why, exits with 1 and cleans up', { timeout: slow }, async () => {
    const { code, err } = await user.run(['demo'], { env: { NODE_OPTIONS: '--require=./no-such-file.cjs' } })
    expect(code).toBe(1)
    expect(err).toContain('no-such-file')
    expect(left()).toEqual([])
  })

  test('takes nothing of the user’s settings to its daemons', { timeout: slow }, async () => {
    const env = { AGENT_HTTP_PORT: 'none', ADMIN_TOKEN: 'admin', VDR_URL: 'sqlite:/nowhere/vdr.db', API_KEY_ENABLED: 'false' }
    expect((await user.run(['demo', '--json'], { env })).code).toBe(0)
  })
})
