/** What the README says of the code is true. */
import { readFileSync, existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { endpointsTable, variablesTable } from './_tables.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('the table of variables is that of the code', () => {
  expect(readme).toContain(variablesTable())
})

test('the table of endpoints is that of the code', () => {
  expect(readme).toContain(endpointsTable())
})

test('every command the README shows exists', () => {
  const shown = [...readme.matchAll(/\bagent ((?:[a-z]+)(?: [a-z]+)?)/g)].map(([, words]) => words!.split(' '))
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

test('files the README names are there', () => {
  for (const [, path] of readme.matchAll(/`((?:src|daemon|commands)\/[\w./-]+\.ts)`/g)) {
    expect(existsSync(new URL(`../${path}`, import.meta.url)), path).toBe(true)
  }
})
