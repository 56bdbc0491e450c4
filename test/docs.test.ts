/** What the README and the pages in docs say of the code is true. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commandIds } from './commands/_operations.ts'
import { endpointsTable, exitCodesTable, variablesTable } from './_tables.ts'

const read = (page: string) => readFileSync(new URL(`../${page}`, import.meta.url), 'utf8')
const pages = [
  'README.md',
  'SECURITY.md',
  ...readdirSync(new URL('../docs', import.meta.url))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
]

test('the table of variables is that of the code', () => {
  expect(read('docs/configuration.md')).toContain(variablesTable())
})

test('the table of endpoints is that of the code', () => {
  expect(read('docs/api.md')).toContain(endpointsTable())
})

test('the table of exit codes is that of the code', () => {
  expect(read('docs/command-line.md')).toContain(exitCodesTable())
})

test('every page in docs is named in the README, and what the pages link to is there', () => {
  for (const page of pages) {
    if (page !== 'README.md') expect(read('README.md'), page).toContain(`](${page})`)
    for (const [, target] of read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g))
      expect(existsSync(new URL(target!, new URL(`../${page}`, import.meta.url))), `${page}: ${target}`).toBe(
        true,
      )
  }
})

test('every command that is shown exists', () => {
  const names = commandIds().map((id) => id.replaceAll(':', ' '))
  const topics = new Set(names.map((name) => name.split(' ')[0]))
  const code = [
    ...pages
      .map(read)
      .join('\n')
      .matchAll(/```[^`]*```|`[^`\n]+`/g),
  ].join('\n')
  const shown = [...code.matchAll(/\bagent ([a-z-]+(?: [a-z-]+){0,2})/g)]
    .map(([, words]) => words!)
    .filter((words) => topics.has(words.split(' ')[0]))
  expect(shown.length).toBeGreaterThan(15)
  // A command with what comes after it, or a topic.
  const isOne = (words: string) =>
    names.some((name) => `${words} `.startsWith(`${name} `) || `${name} `.startsWith(`${words} `))
  expect(shown.filter((words) => !isOne(words))).toEqual([])
})

test('files that are named are there', () => {
  for (const [, path] of pages
    .map(read)
    .join('\n')
    .matchAll(/`((?:src|daemon|commands)\/[\w./-]+\.ts)`/g)) {
    expect(existsSync(new URL(`../${path}`, import.meta.url)), path).toBe(true)
  }
})
