/**
 * The examples of docs/operate for nginx and Caddy, with the real programs: API, event stream, DIDComm,
 * WebSocket, sizes.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { Daemon } from '../support/daemon.ts'
import { newFolder } from '../support/folder.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/tenants.ts'

const example = (name: string) => readFileSync(new URL(`../../docs/operate/${name}`, import.meta.url), 'utf8')
const portOf = (url: string) => new URL(url).port

/** The example with plain HTTP at a free port, for the ports of a daemon. */
const commands = {
  nginx(folder: string, port: number, { url, didcommUrl }: Daemon): string[] {
    const servers = example('nginx.conf')
      .replaceAll('listen 443 ssl;', `listen 127.0.0.1:${port};`)
      .replaceAll(/^\s*ssl_.*$/gm, '')
      .replaceAll(':8085', `:${portOf(url)}`)
      .replaceAll(':8090', `:${portOf(didcommUrl)}`)
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    writeFileSync(
      join(folder, 'main.conf'),
      `${process.getuid!() === 0 ? 'user root;' : ''} pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${paths.join(' ')} ${servers} }`,
    )
    return ['-p', folder, '-c', join(folder, 'main.conf'), '-g', 'daemon off;', '-e', 'stderr']
  },
  caddy(folder: string, port: number): string[] {
    const sites = example('Caddyfile').replaceAll(/^(\w+\.example\.com) \{$/gm, `http://$1:${port} {`)
    writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n}\n${sites}`)
    return ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
  },
}

const isThere = (program: string) =>
  spawnSync(program, [program === 'nginx' ? '-v' : 'version']).error === undefined

type Asked = { host: string; method?: string; headers?: Record<string, string>; body?: Buffer | string }

async function ask(port: number, path: string, { host, method = 'GET', headers = {}, body }: Asked) {
  const sent = request({ host: '127.0.0.1', port, path, method, headers: { ...headers, host } })
  const answer = new Promise<IncomingMessage>((resolve, reject) =>
    sent.on('response', resolve).on('error', reject),
  )
  sent.end(body)
  return answer
}

const [api, didcomm] = ['agent.example.com', 'didcomm.example.com']

test.each(['nginx', 'caddy'] as const)('%s', async (program) => {
  if (!isThere(program)) return console.warn(`${program} is not installed: its example is not tested.`)
  await using daemon = await Daemon.start({
    AGENT_TRUST_PROXY: 'true',
    MEDIATOR_TRUST_PROXY: 'true',
    AGENT_MEDIATOR: 'true',
    REST_SERVICE_URL: `https://${api}`,
    DIDCOMM_SERVICE_URL: `https://${didcomm}`,
  })
  const { apiKey, call } = await daemon.newTenant('alice')
  const [folder, port] = [newFolder(), await freePort()]
  const proxy = spawn(program, commands[program](folder, port, daemon), {
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      AGENT_API: `127.0.0.1:${portOf(daemon.url)}`,
      AGENT_DIDCOMM: `127.0.0.1:${portOf(daemon.didcommUrl)}`,
    },
    stdio: 'ignore',
  })
  try {
    const status = async (path: string, asked: Asked) => {
      const response = await ask(port, path, asked)
      response.resume()
      return response.statusCode
    }
    const headers = { apikey: apiKey, 'x-forwarded-for': '203.0.113.9' }
    await until(
      program,
      () => status('/connections', { host: api, headers }).catch(() => 0),
      (code) => code === 200,
    )
    for (const path of ['/_system/metrics', '/wallets', '/iam/entities'])
      expect(await status(path, { host: api, headers })).toBe(404)

    // A buffered event would not arrive before the end of the stream.
    const stream = await ask(port, '/events/stream', { host: api, headers })
    expect(stream.headers['content-type']).toContain('text/event-stream')
    let streamed = ''
    stream.on('data', (chunk) => (streamed += chunk))
    await call('POST /connections', { body: { label: 'through the proxy' } })
    await until(
      'the event',
      () => Promise.resolve(streamed),
      (text) => text.includes('InvitationGenerated'),
    )
    stream.destroy()

    const type = { 'content-type': 'application/didcomm-encrypted+json' }
    const post = (bytes: number) =>
      status('/', { host: didcomm, method: 'POST', headers: type, body: Buffer.alloc(bytes, ' ') })
    // The agent answers the first two: no envelope, and too large for it. The third is too large for the
    // proxy.
    expect(await post(10)).toBe(422)
    expect(await post(1_048_577)).toBe(400)
    // Old versions of Caddy find out while they forward the body: 502.
    expect(program === 'caddy' ? [413, 502] : [413]).toContain(await post(2_200_000))

    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers: { host: didcomm } })
    await once(socket, 'open')
    socket.terminate()
  } finally {
    proxy.kill('SIGKILL')
    if (proxy.exitCode === null) await once(proxy, 'exit')
  }
})
