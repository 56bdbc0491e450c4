/** The pages that `npm run docs` generates. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readCommands } from '../build/docs/manifest.ts'
import { printedBy } from '../build/docs/shape.ts'
import { rows, shapes } from '../build/docs/shapes.ts'
import { commandsPage, helpOf } from '../build/docs/commands.ts'
import { endpointsPage } from '../build/docs/endpoints.ts'
import { jsonPage } from '../build/docs/json.ts'
import { manPage } from '../build/docs/man.ts'
import { statesPage } from '../build/docs/states.ts'
import { pages, read } from './support/pages.ts'

test('help fits 80 columns and has no colours', async () => {
  const help = await helpOf([])
  // oxlint-disable-next-line no-control-regex
  expect(help).not.toMatch(/\u001b/)
  expect(help.split('\n').filter((line) => line.length > 80)).toEqual([])
  // Each main topic is one line.
  expect(help.split('\n').filter((line) => /^ {20,}/.test(line))).toEqual([])
  const offer = await helpOf(['credential', 'offer'])
  expect(offer.indexOf('EXAMPLES')).toBeLessThan(offer.indexOf('USAGE'))
})

test('docs/reference/commands.md has the help of every visible command', async () => {
  const page = await commandsPage()
  for (const { id, hidden } of readCommands())
    expect(page.includes(`# agent ${id.replaceAll(':', ' ')}\n`), id).toBe(!hidden)
})

test('docs/reference/json.md has every command with --json', () => {
  const page = jsonPage()
  for (const id of Object.keys(shapes)) expect(page).toContain(`| \`agent ${id.replaceAll(':', ' ')}\` | [`)
})

test('every shape by hand is of a command whose file does not say it', () => {
  const repeated = Object.entries(rows).filter(
    ([id, { type }]) => !(id in shapes) || (type && printedBy(id)?.type === type),
  )
  expect(repeated.map(([id]) => id)).toEqual([])
})

test('docs/reference/endpoints.md has the callers and the scopes of an endpoint', () => {
  expect(endpointsPage()).toContain(
    '| `POST /messages` | tenant | issuer, holder, verifier | yes | Send a message over a connection |',
  )
})

const groff = ['/usr/bin/groff', '/usr/local/bin/groff', '/opt/homebrew/bin/groff'].find((path) =>
  existsSync(path),
)

test.skipIf(groff === undefined)(
  'groff formats the manual page without a warning (skipped without groff)',
  () => {
    const { status, stderr } = spawnSync(groff!, ['-man', '-Tascii', '-ww'], {
      input: manPage(),
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  },
)

test('docs/reference/states.md, which is in git, has the states of the code (npm run docs writes it)', () => {
  const page = readFileSync(new URL('../docs/reference/states.md', import.meta.url), 'utf8')
  expect(page).toBe(statesPage())
})

describe('the pictures of npm run recording', () => {
  const folder = new URL('../docs/images/', import.meta.url)

  test('are small, and each is in a page', () => {
    const text = pages.map(read).join('\n')
    for (const name of readdirSync(folder)) {
      expect(statSync(new URL(name, folder)).size, name).toBeLessThan(300_000)
      expect(text, name).toContain(`images/${name})`)
    }
  })
})
