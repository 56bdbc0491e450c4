/** The commands of the README work when pasted into a shell. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bin, newUser, type User } from './_cli.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

/** The first shell block below a heading. */
function blockOf(heading: string): string {
  const [, block] = new RegExp(`## ${heading}\\n[^]*?\`\`\`sh\\n([^]*?)\`\`\``).exec(readme)!
  return block!
}

let user: User
beforeEach(() => {
  user = newUser()
  mkdirSync(join(user.folder, 'bin'))
  symlinkSync(bin, join(user.folder, 'bin', 'agent'))
})
afterEach(() => user.remove())

/** Two free ports. */
async function freePorts(): Promise<string[]> {
  const servers = [createServer().listen(0, '127.0.0.1'), createServer().listen(0, '127.0.0.1')]
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => String((server.address() as { port: number }).port))
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/**
 * Runs blocks in a shell that stops at the first failure, in a new HOME. Free ports replace the default
 * ports.
 */
async function paste(...blocks: string[]) {
  const [http, didcomm] = await freePorts()
  const env = {
    PATH: `${join(user.folder, 'bin')}:${process.env['PATH']}`,
    HOME: user.folder,
    TMPDIR: user.folder,
    NO_COLOR: '1',
    AGENT_HTTP_PORT: http,
    AGENT_DIDCOMM_PORT: didcomm,
  }
  const text = `set -euo pipefail\n${blocks.join('\n').replaceAll('127.0.0.1:8085', `127.0.0.1:${http}`)}`
  return execa('bash', ['-c', text], {
    env,
    extendEnv: false,
    cwd: user.folder,
    reject: false,
    all: true,
    input: '',
  })
}

const stop = 'agent daemon stop'

test('the first credential is issued and presented', async () => {
  const { exitCode, all } = await paste(blockOf('The first credential'), stop)
  expect({ exitCode, all }).toMatchObject({ exitCode: 0 })
  expect(all).toMatch(/state +PresentationVerified/)
})

test('two daemons connect', async () => {
  const { exitCode, all } = await paste(blockOf('Two daemons'))
  expect({ exitCode, all }).toMatchObject({ exitCode: 0 })
  expect(all).toMatch(/state +ConnectionResponseReceived/)
})

const hasTools = ['curl', 'jq'].every((tool) => spawnSync(tool, ['--version']).status === 0)

test.skipIf(!hasTools)('the API answers curl (skipped without curl and jq)', async () => {
  const { exitCode, all } = await paste('agent daemon start', blockOf('By curl'), stop)
  expect({ exitCode, all }).toMatchObject({ exitCode: 0 })
  expect(all).toMatch(/_oob=/)
})
