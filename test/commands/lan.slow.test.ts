/** `agent daemon start --lan` on two machines in a local network. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canIsolate, type Laptop, twoLaptops } from '../support/laptops.ts'
import { fails, useUser } from './_cli.ts'

const user = useUser()

test.each([
  ['AGENT_HOST', '0.0.0.0'],
  ['REST_SERVICE_URL', 'https://agent.example'],
  ['DIDCOMM_SERVICE_URL', 'https://agent.example'],
])('an address in %s excludes --lan (2)', async (name, value) => {
  const { code, out } = await user.as({ AGENT_LAN: 'auto', [name]: value }).run`config validate`
  expect({ code, out }).toEqual({ code: 2, out: expect.stringContaining(`${name} names an address too`) })
})

test.each(['192.168.1', '::1', '10.0.0.1/7', '10.0.0.1/33', 'true'])(
  'AGENT_LAN=%s is refused (2)',
  async (lan) => {
    const { code, out } = await user.as({ AGENT_LAN: lan }).run`config validate`
    expect({ code, out }).toEqual({
      code: 2,
      out: expect.stringContaining('is neither auto, off nor an IPv4'),
    })
  },
)

test('an address that this machine does not have is refused before the start (2)', async () => {
  expect(await user.run`daemon start --lan 10.254.254.254`).toEqual(
    fails(2, /^Error: 10\.254\.254\.254 \(--lan, AGENT_LAN\) is not an address of this machine/),
  )
  expect(await user.run`daemon start --lan=127.0.0.1`).toEqual(fails(2, 'in a private network'))
})

// It needs user namespaces, which some containers and distributions do not allow.
describe.runIf(canIsolate)('in a local network', () => {
  const free = ['--port', '0', '--didcomm-port', '0']
  let [alice, bob]: Laptop[] = []
  beforeAll(async () => void ([alice, bob] = await twoLaptops()))
  afterAll(() => Promise.all([alice?.close(), bob?.close()]))

  test('a start states the consequences, and answers at the address and at this machine only', async () => {
    await alice!.run('ip', ['link', 'add', 'docker0', 'type', 'veth', 'peer', 'name', 'veth0'])
    await alice!.run('ip', ['addr', 'add', '172.17.0.1/16', 'dev', 'docker0'])
    for (const name of ['docker0', 'veth0']) await alice!.run('ip', ['link', 'set', name, 'up'])
    const link = () => alice!.run('ip', ['link', 'show', 'docker0'])
    await expect.poll(async () => (await link()).out).toContain('state UP')
    const { code, out, err } = await alice!.command(['daemon', 'start', '--lan', ...free])
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('192.168.77.10 (lan0)') })
    expect(err).toContain('Send no API keys from other machines without --https.')
    expect(err).toContain('Peers and tenants can make the agent call addresses in 192.168.77.10/24')
    expect(err).toContain('Other addresses of this machine: 172.17.0.1 (docker0).')
    const [, port] = /^api +http:\/\/192\.168\.77\.10:(\d+)$/m.exec(out)!
    const ask = (from: Laptop, host: string) =>
      from.run('curl', ['-s', '-m', '5', `http://${host}:${port}/_system/health`])
    expect((await ask(bob!, '192.168.77.10')).out).toContain('version')
    expect((await ask(alice!, '127.0.0.1')).out).toContain('version')
    // 52: empty reply, 56: reset. The connection is closed.
    expect([52, 56]).toContain((await ask(alice!, '172.17.0.1')).code)
  })

  test('two agents connect, and each calls the other one', async () => {
    await bob!.agent`daemon start --lan 192.168.77.20 ${free}`
    const { invitation, connectionId } = await alice!.agent`connection invite`
    const accepted = await bob!.agent`connection accept ${invitation.invitationUrl} --wait`
    expect(accepted.state).toBe('ConnectionResponseReceived')
    await alice!.agent`didcomm ping ${connectionId}`
    await bob!.agent`didcomm ping ${accepted.connectionId}`
  })

  test('addresses of this machine and of other private networks are not called', async () => {
    for (const url of ['http://127.0.0.1:9000/', 'http://172.17.0.1:9000/', 'http://10.0.0.1:9000/']) {
      const { id } = await alice!.agent`webhook add ${url}`
      const { code, out } = await alice!.command(['webhook', 'test', id])
      expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('does not call') })
    }
  })

  test('a restart keeps --lan, and says that connections have the old address when it has changed', async () => {
    alice!.moveTo('192.168.77.30')
    const { checks } = JSON.parse((await alice!.command(['doctor', '--json'])).out)
    expect(checks.find(({ name }: { name: string }) => name === 'daemon').status).toBe('failed')
    const { code, out, err } = await alice!.command(['daemon', 'restart'])
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^api +http:\/\/192\.168\.77\.30:/) })
    expect(err).toContain('The old address is not one of this machine any more: connect again.')
    await alice!.command(['daemon', 'stop'])
    expect((await alice!.agent`daemon start`).url).toContain('192.168.77.30')
  })

  test('--lan off ends it', async () => {
    expect(await alice!.command(['daemon', 'start', '--lan', 'off'])).toMatchObject({ code: 5 })
    await alice!.command(['daemon', 'stop'])
    expect((await alice!.agent`daemon start --lan off`).url).toContain('127.0.0.1')
  })

  test('a restart with --lan answers in the network, as the hint below QR codes says', async () => {
    const { code, out, err } = await alice!.command(['daemon', 'restart', '--lan'])
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^api +http:\/\/192\.168\.77\.30:/) })
    expect(err).toContain('Send no API keys from other machines without --https.')
    expect((await alice!.agent`daemon restart`).url).toContain('192.168.77.30')
  })
})
