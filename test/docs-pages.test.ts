/** The pages that `npm run docs` writes are what the code says now. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readCommands } from '../docs/_make/manifest.ts'
import { pages } from '../docs/_make/pages.ts'
import { shapes } from '../docs/_make/shapes.ts'
import { helpOf } from '../docs/_make/help.ts'

const pathOf = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url))

test.each(Object.entries(pages))(
  '%s is up to date: `npm run docs` writes it',
  { timeout: 60_000 },
  async (file, page) => {
    expect(readFileSync(pathOf(file), 'utf8')).toBe(await page())
  },
)

test('help is as wide as a terminal of 80 columns, and has no colours', { timeout: 60_000 }, async () => {
  const help = await helpOf([])
  // oxlint-disable-next-line no-control-regex
  expect(help).not.toMatch(/\u001b/)
  expect(help.split('\n').filter((line) => line.length > 80)).toEqual([])
  // A topic is a line: none goes on in the next.
  const [, topics = ''] = /TOPICS\n((?: {2}.*\n)+)/.exec(help)!
  expect(topics.split('\n').filter((line) => /^ {6,}/.test(line))).toEqual([])
  expect(help.indexOf('EXAMPLES')).toBeLessThan(help.indexOf('USAGE'))
  const offer = await helpOf(['credential', 'offer'])
  expect(offer.indexOf('EXAMPLES')).toBeLessThan(offer.indexOf('USAGE'))
})

test('every command that has --json says what it prints', () => {
  const withJson = readCommands().filter(({ flags }) => flags['json'] !== undefined)
  expect(Object.keys(shapes).toSorted()).toEqual(withJson.map(({ id }) => id).toSorted())
})

const groff = ['/usr/bin/groff', '/usr/local/bin/groff', '/opt/homebrew/bin/groff'].find((path) =>
  existsSync(path),
)

test.skipIf(groff === undefined)(
  'the manual page is one, without a warning (skipped where there is no groff)',
  () => {
    const { status, stderr } = spawnSync(groff!, ['-man', '-Tascii', '-ww', pathOf('man/agent.1')], {
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  },
)
