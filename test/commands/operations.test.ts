/** Errors of commands name commands, and not operations of the HTTP API. */
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { commandsOf, inCommands } from '../../cli/errors/operations.ts'
import { definitions } from '../../src/definitions/protocols.ts'
import { operationsOfCommands } from './_operations.ts'

const id = '01a20725-6f2b-7d4e-8c15-b0f3a2917c3d'

test.each([
  [
    `is in state CredentialSent and cannot do 'POST /issue-credentials/records/{recordId}/issue-credential', which`,
    `is in state CredentialSent and cannot do 'agent credential issue', which`,
  ],
  [`cannot do 'request-accept', which is possible`, `cannot do 'agent proof present', which is possible`],
  [`call POST /issue-credentials/records/${id}/accept-offer.`, `call agent credential accept ${id}.`],
  [
    'Ask for one (POST /wallets/{walletId}/uma-permissions), or create a wallet (POST /wallets).',
    'Ask for one (agent wallet grant), or create a wallet (agent wallet create).',
  ],
  ['DELETE /nothing and request-accept stay', 'DELETE /nothing and request-accept stay'],
])('%s', (text, shown) => {
  expect(inCommands(text)).toBe(shown)
})

test('each command calls the operation', () => {
  const calls = operationsOfCommands()
  const wrong = Object.entries(commandsOf).filter(([operation, command]) => {
    const called = calls.get(command.replace(/^agent | [{<].*$/g, '').replaceAll(' ', ':'))
    return !called || (operation.includes(' ') && !called.has(operation))
  })
  expect(wrong).toEqual([])
})

test('each decision about a record has a command', () => {
  // The first rows of a flow: there is no record yet that could be in a wrong state.
  const later = definitions.flatMap(({ rows }) => rows.filter(([, from]) => from !== null))
  const decisions = later.map(([, , on]) => on).filter((on) => /^POST |^(?:request|presentation)-/.test(on))
  expect(decisions.length).toBeGreaterThan(8)
  expect([...new Set(decisions)].filter((on) => commandsOf[on] === undefined)).toEqual([])
})

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The texts of a folder that name an operation in a sentence, other than descriptions of the API. */
function sentencesIn(folder: string): string[] {
  const files = readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.ts')).flatMap((file) => textsOf(`${root}${folder}/${file}`))
}

function textsOf(file: string): string[] {
  const source = readFileSync(file, 'utf8')
  if (!/[^'`] (?:GET|POST|PUT|PATCH|DELETE) \//.test(source)) return []
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /\bdescribe$/.test(node.expression.getText())) return
    if (ts.isStringLiteral(node)) found.push(node.text)
    if (ts.isTemplateExpression(node))
      found.push(node.head.text + node.templateSpans.map(({ literal }) => `{x}${literal.text}`).join(''))
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.ESNext, true))
  return found.filter((text) => /\S.*\b(?:GET|POST|PUT|PATCH|DELETE) \//.test(text))
}

/** Errors that only programs meet. */
const ofPrograms = [
  /^There is no \{x\} \{x\} here/,
  /^This is a DIDComm endpoint/,
  /^The API reference has no/,
]

test('every error text that names an operation has a command for it', () => {
  const texts = [...sentencesIn('src/exchange'), ...sentencesIn('src/wallet'), ...sentencesIn('daemon')]
  expect(texts.length).toBeGreaterThan(5)
  const named = texts.filter((text) => !ofPrograms.some((pattern) => pattern.test(text)))
  expect(named.filter((text) => /\b(?:GET|POST|PUT|PATCH|DELETE) \//.test(inCommands(text)))).toEqual([])
})
