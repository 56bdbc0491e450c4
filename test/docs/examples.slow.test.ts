/** The scripts of docs/examples work with only a shell and the program. */
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bin, newUser, type User } from '../commands/_cli.ts'

const folder = fileURLToPath(new URL('../../docs/examples', import.meta.url))
const scripts = readdirSync(folder).filter((name) => name.endsWith('.sh'))
const textOf = (name: string) => readFileSync(`${folder}/${name}`, 'utf8')

const slow = 240_000

let user: User
beforeEach(() => (user = newUser()))
afterEach(() => user.remove())

/** A script finds the program by a variable, or as `agent` in the PATH of an installation. */
const ways = {
  'AGENT names the program': () => ({ AGENT: `${process.execPath} ${bin}` }),
  'the PATH has an agent': () => {
    const folderInPath = join(user.folder, 'bin')
    mkdirSync(folderInPath)
    symlinkSync(bin, join(folderInPath, 'agent'))
    return { PATH: `${folderInPath}:${process.env['PATH']}` }
  },
}

function run(name: string, variables: Record<string, string>) {
  const env = {
    PATH: process.env['PATH']!,
    HOME: user.folder,
    TMPDIR: user.folder,
    NO_COLOR: '1',
    ...variables,
  }
  return execa('bash', [`${folder}/${name}`], { env, extendEnv: false, reject: false, all: true, input: '' })
}

test('examples exist', () =>
  expect(scripts.toSorted()).toEqual(['main-job.sh', 'onboarding.sh', 'webhooks.sh']))

describe.each(scripts)('%s', (name) => {
  test('is a bash script that stops at the first failure and cleans up', async () => {
    const text = textOf(name)
    expect(text).toMatch(/^#!\/usr\/bin\/env bash\n(?:# .*\n)+set -euo pipefail\n/)
    expect(text).toContain('trap clean_up EXIT')
    expect((await execa('bash', ['-n', `${folder}/${name}`], { reject: false })).stderr).toBe('')
    // Users run it from its own folder.
    expect(statSync(`${folder}/${name}`).mode & 0o111).not.toBe(0)
  })

  test('quotes every variable, except in tests and arithmetic, which do not split words', () => {
    const lines = textOf(name)
      .replaceAll(/node -e '[^']*'/g, '')
      .split('\n')
    const code = lines
      .filter((line) => !line.trimStart().startsWith('#'))
      .map((line) => line.replaceAll(/\[\[.*?\]\]|"[^"$(]*\$\w+[^"$(]*"/g, ''))
    expect(code.filter((line) => /(?<=[\s(])\$[A-Za-z_]\w*/.test(line))).toEqual([])
  })

  test('has the same preamble as the others', () => {
    const preamble = (text: string) =>
      text.slice(text.indexOf('set -euo'), text.indexOf('\n\nstep', text.indexOf('didcomm-port')))
    expect(preamble(textOf(name))).toBe(preamble(textOf(scripts[0]!)))
  })

  // All scripts have the same preamble, so each way is that of some.
  const way = name === 'webhooks.sh' ? 'AGENT names the program' : 'the PATH has an agent'
  test(`finishes and cleans up when ${way}`, { timeout: slow }, async () => {
    const { exitCode, all } = await run(name, ways[way]())
    expect({ exitCode, all }).toMatchObject({ exitCode: 0 })
    expect(all).toMatch(/== Done$/m)
    expect(readdirSync(user.folder).filter((each) => each.startsWith('tmp.'))).toEqual([])
  })
})
