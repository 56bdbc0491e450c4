/** What the README and the pages in docs say of the code is true. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { endpointsTable, variablesTable } from './_tables.ts'

const read = (page: string) => readFileSync(new URL(`../${page}`, import.meta.url), 'utf8')
const pages = [
  'README.md',
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

test('every page in docs is named in the README, and what the pages link to is there', () => {
  for (const page of pages) {
    if (page !== 'README.md') expect(read('README.md'), page).toContain(`](${page})`)
    for (const [, target] of read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g))
      expect(existsSync(new URL(target!, new URL(`../${page}`, import.meta.url))), `${page}: ${target}`).toBe(true)
  }
})

test('every command that is shown exists', () => {
  const shown = [
    ...pages
      .map(read)
      .join('\n')
      .matchAll(/\bagent ((?:[a-z]+)(?: [a-z]+)?)/g),
  ].map(([, words]) => words!.split(' '))
  const commands = shown.filter(
    ([topic, verb]) =>
      existsSync(new URL(`../commands/${topic}.ts`, import.meta.url)) ||
      (verb !== undefined && existsSync(new URL(`../commands/${topic}`, import.meta.url))),
  )
  expect(commands.length).toBeGreaterThan(15)
  for (const [topic, verb] of commands) {
    const isThere = [`../commands/${topic}.ts`, `../commands/${topic}/${verb}.ts`].some((path) =>
      existsSync(new URL(path, import.meta.url)),
    )
    expect(isThere, `agent ${topic} ${verb}`).toBe(true)
  }
})

test('files that are named are there', () => {
  for (const [, path] of pages
    .map(read)
    .join('\n')
    .matchAll(/`((?:src|daemon|commands)\/[\w./-]+\.ts)`/g)) {
    expect(existsSync(new URL(`../${path}`, import.meta.url)), path).toBe(true)
  }
})
