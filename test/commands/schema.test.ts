/** `agent schema` against the built bundle with its schema worker thread. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Line, prints, words } from './_cli.ts'
import { serveIssuer } from './_agents.ts'

const person = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name'],
  additionalProperties: false,
}

const issuer = serveIssuer()
const { user } = issuer

/** Writes JSON to a file. Returns the flag value that names it. */
function file(name: string, json: object): string {
  const path = join(user.folder, name)
  writeFileSync(path, JSON.stringify(json))
  return `@${path}`
}
const publish = async (...flags: Line) => {
  const { out, err } =
    await user.run`schema publish --name person --author ${issuer.did} --json ${words(...flags)}`
  return JSON.parse(out || err) as Record<string, any>
}

test('a schema is published, signed, updated and printed', async () => {
  const schema = file('person.json', person)
  const made = await publish`--schema ${schema} --tag test --sign`
  expect(made).toMatchObject({
    name: 'person',
    version: '1.0.0',
    tags: ['test'],
    proof: { verificationMethod: `${issuer.did}#issue-1` },
  })
  const next = await publish`--schema ${schema} --id ${made['id']} --version 1.1.0`
  expect(next).toMatchObject({ id: made['id'], version: '1.1.0' })
  expect(await publish`--schema ${schema} --id ${made['id']} --version 1.0.1`).toMatchObject({
    exitCode: 2,
    status: 400,
  })
  const shown = await user.run`schema show ${made['guid']}`
  expect(shown.out).toContain(`signed by  ${issuer.did}#issue-1`)
  expect((await user.run`schema list --version 1.% -q`).out.split('\n')).toEqual([next['guid'], made['guid']])
  const linked = await publish`
    --schema ${file('ld.json', { '@context': { '@vocab': 'https://schema.org/' }, ...person })}
    --kind json-ld
  `
  expect(linked).toMatchObject({ type: 'http://www.w3.org/ns/json-ld#context' })
})

test('a schema and claims against it are validated', async () => {
  const made = await publish`--schema ${JSON.stringify(person)} --sign`
  const validate = (...line: Line) => user.run`schema validate ${words(...line)}`
  const { code, out } = await validate`${made['guid']} --signed --claim name=Alice --claim age:=42`
  expect({ code, out: out.split('\n').map((line) => line.trimEnd()) }).toEqual({
    code: 0,
    out: [
      expect.stringMatching(new RegExp(`^author +${issuer.did}$`)),
      'usable      ok',
      'authorship  ok',
      'claims      ok',
    ],
  })
  const wrong = await validate`${made['guid']} --claim age=42`
  expect(wrong).toMatchObject(prints(8, '$.name: is missing but it is required; $.age: must be integer'))
  expect(await validate`--schema ${JSON.stringify(person)} -q`).toMatchObject({ code: 0, out: 'valid' })
  expect(await validate`--schema ${JSON.stringify(person)} --signed`).toMatchObject({ code: 8 })
  expect(await validate`--schema {"type":"text"} -q`).toMatchObject({ code: 8, out: 'invalid' })
  expect((await validate()).code).toBe(2)
  expect((await validate`00000000-0000-3000-8000-000000000000`).code).toBe(3)
})

test('the bundle’s worker thread validates a large schema', async () => {
  const many = {
    ...person,
    properties: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`p${i}`, { type: 'integer' }])),
    required: [],
  }
  const { code, out } = await user.run`schema validate --schema ${file('many.json', many)} --claim p199=x`
  expect({ code, out }).toEqual({ code: 8, out: expect.stringContaining('$.p199: must be integer') })
  const backReference = {
    ...person,
    properties: { a: { type: 'string', pattern: String.raw`(a)\1` } },
    required: [],
  }
  const refused = await user.run`schema validate --schema ${file('pattern.json', backReference)}`
  expect(refused).toMatchObject({ code: 8, out: expect.stringContaining(String.raw`(a)\1`) })
})
