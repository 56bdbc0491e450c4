/**
 * Commands that draw QR codes, for terminals of twelve sizes: a decoder reads each code from what stays
 * visible above a prompt that wraps.
 */
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { newUser } from './_cli.ts'
import { readWithJsQr } from './_qr.ts'
import { drawScreen, themes, visibleLines, type Theme } from './_screen.ts'
import { untilEnd } from '../support/shared.ts'

const sizes = [
  [60, 20],
  [60, 24],
  [72, 22],
  [80, 24],
  [80, 30],
  [89, 45],
  [100, 40],
  [100, 46],
  [110, 50],
  [120, 40],
  [160, 50],
  [200, 60],
] as const

const user = newUser()
const env: Record<string, string> = {
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  LC_ALL: '',
  LC_CTYPE: '',
  CI: 'true',
}

const agent = await untilEnd(startAgent({ API_KEY_ENABLED: 'false' }))
env['AGENT_URL'] = agent.url
const did = await user.as(env).json`did create --publish --wait --key issue-1:assertionMethod`
const commands: Record<string, string[]> = {
  connection: ['connection', 'invite'],
  offer: ['credential', 'offer', '--invitation', '--issuing-did', did.did, '--claim', 'name=Alice'],
  proof: ['proof', 'request', '--invitation', '--any-issuer'],
  onboard: ['onboard', 'create', '--from', 'Acme'],
  signin: ['signin', 'create', '--from', 'Acme'],
}
afterAll(async () => {
  user.remove()
})

/**
 * The texts that a code of the command may have: the URL, or for DID requests and challenges the JSON text or
 * its short link.
 */
async function expectedIn(name: string, out: string, isLong: boolean): Promise<unknown[]> {
  const printed = out.split('\n').find((line) => /^(?:http|\{)/.test(line))!
  if (isLong || (name !== 'onboard' && name !== 'signin')) return [printed]
  const route = name === 'onboard' ? 'GET /onboard/did-requests' : 'GET /did-authentication/challenges'
  const { contents } = (await agent.tenant(route)) as { contents: { shortUrl?: string }[] }
  return contents.map(({ shortUrl }) => shortUrl)
}

/** Runs a command and reads the code from the visible part of the screen. Returns whether one was drawn. */
async function isDrawn(
  name: string,
  [columns, rows]: readonly [number, number],
  isLong: boolean,
): Promise<boolean> {
  const args = [...commands[name]!, ...(isLong ? ['--long'] : [])]
  const { code, out } = await user.runSized(args, { columns, rows }, env)
  expect({ args, out, code }).toMatchObject({ code: 0 })
  const drawn = out.includes('\u001b[38;5;231;48;5;16m')
  expect(out.includes('No QR code: ')).toBe(!drawn)
  if (!drawn) return false
  const lines = await visibleLines(out, { columns, rows })
  const expected = await expectedIn(name, out, isLong)
  for (const theme of Object.keys(themes) as Theme[]) {
    const read = readWithJsQr(drawScreen(lines, theme, 4))
    expect({ name, columns, rows, isLong, theme, isRead: expected.includes(read) }).toMatchObject({
      isRead: true,
    })
  }
  return true
}

const names = ['connection', 'offer', 'proof', 'onboard', 'signin']
/** An offer and a proof request have over 2,000 characters: only the largest terminal is tried. */
const isHopeless = (name: string, columns: number) => columns < 200 && (name === 'offer' || name === 'proof')

describe('in a terminal', () => {
  /** The smallest terminal with the code of the whole text. */
  const smallest = new Map<string, string>()

  test.each(sizes)('of %i × %i every code that is drawn can be read', async (...size) => {
    const short = await Promise.all(names.map((name) => isDrawn(name, size, false)))
    expect(short).toEqual(names.map(() => true))
    const long = await Promise.all(
      names.map(async (name) => !isHopeless(name, size[0]) && (await isDrawn(name, size, true))),
    )
    for (const name of names.filter((each, index) => long[index] && !smallest.has(each)))
      smallest.set(name, size.join('×'))
  })

  test('docs/reference/qr.md has the results', () => {
    const rows = names.map((name) => `| \`${name}\` | ${smallest.get(name) ?? 'none'} |`)
    const page = readFileSync(new URL('../../docs/reference/qr.md', import.meta.url), 'utf8')
    expect(page).toContain(rows.join('\n'))
  })
})
