/**
 * The OpenAPI document satisfies the tools of others: linter, validator, and a generator whose client runs
 * the main flow.
 */
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import SwaggerParser from '@apidevtools/swagger-parser'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { newFolder } from '../support/folder.ts'
import { startPair, type Tenant } from '../support/tenants.ts'
import { untilEnd } from '../support/shared.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** fixtures/generated-client/main-flow.ts, which compiles beside the generated types only. */
type Client = {
  mainFlow: (issuer: Tenant, holder: Tenant) => Promise<{ status: string; data?: string[] }>
  refusal: (agent: Tenant) => Promise<unknown>
}

const pair = await untilEnd(startPair())
const source = await (await fetch(`${pair.issuer.url}/docs/openapi.json`)).text()

test('Redocly’s recommended rules find no error, and warn of nothing but what is known', async () => {
  const config = await createConfig({
    extends: ['recommended'],
    // Every operation has `default`, which describes all failures.
    rules: { 'operation-4xx-response': 'off' },
  })
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config })
  const found = problems.map(({ severity, ruleId, location: [at] }) => `${severity} ${ruleId} ${at?.pointer}`)
  // An agent finds the fixed segment first. The Cloud Agent has the paths of schemas and definitions.
  expect(found).toEqual([
    'warn no-ambiguous-paths #/paths/~1issuer-certificates~1crl~1{file}',
    'warn no-ambiguous-paths #/paths/~1schema-registry~1schemas~1did-url~1{guid}',
    'warn no-ambiguous-paths #/paths/~1credential-definition-registry~1definitions~1did-url~1{guid}',
  ])
})

test('swagger-parser accepts the document', async () => {
  const document = await SwaggerParser.validate(JSON.parse(source))
  expect(document.info.title).toBe('Identity agent')
})

test('a generated client compiles in strict mode, and runs the main flow between two tenants', async () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'api.ts'), astToString(await openapiTS(source)))
  copyFileSync(join(root, 'fixtures/generated-client/main-flow.ts'), join(folder, 'main-flow.ts'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  expect(compile(folder)).toEqual([])

  const url = pathToFileURL(join(folder, 'main-flow.js')).href
  const { mainFlow, refusal } = (await import(/* @vite-ignore */ url)) as Client
  const { status, data } = await mainFlow(pair.issuer, pair.holder)
  expect(status).toBe('PresentationVerified')
  expect(data).toHaveLength(1)
  expect(await refusal(pair.issuer)).toMatchObject({ status: 401, title: expect.any(String) })
})

/** Compiles the client beside its types. Returns the errors. */
function compile(folder: string): string[] {
  const program = ts.createProgram([join(folder, 'main-flow.ts'), join(folder, 'api.ts')], {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    skipLibCheck: false,
    // The libraries of TypeScript itself are not what is tested.
    skipDefaultLibCheck: true,
    types: [],
    rewriteRelativeImportExtensions: true,
  })
  const { diagnostics } = program.emit()
  return [...ts.getPreEmitDiagnostics(program), ...diagnostics].map(({ messageText, file, start }) => {
    const at =
      file && start !== undefined
        ? `${file.fileName}:${file.getLineAndCharacterOfPosition(start).line + 1}`
        : ''
    return `${at} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
}
