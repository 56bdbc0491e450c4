/** Templates: each schema can be registered, each example satisfies it, and people can read all of it. */
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkClaims } from '../../src/credentials/schemas/claims.ts'
import { PlainSchema } from '../../src/credentials/schemas/json-schema.ts'
import { getTemplate, templateNames } from '../../src/definitions/templates/index.ts'
import { CredentialDisplay } from '../../src/exchange/oid4vci/display.ts'

test('every file of the folder is a template', () => {
  const files = readdirSync('src/definitions/templates').filter((name) => !/^(?:index|model)\.ts$/.test(name))
  expect(files.toSorted()).toEqual(templateNames.map((name) => `${name}.ts`).toSorted())
})

test.each(templateNames)('%s', async (name) => {
  const { title, display, schema, example } = getTemplate(name)
  expect(PlainSchema.safeParse(schema).error).toBeUndefined()
  expect(CredentialDisplay.parse([{ name: title, ...display }])).toMatchObject([{ name: title }])
  expect(schema.title).toBe(title)
  await checkClaims(example, schema)
  // The example has each claim once, so that a person sees what there is.
  expect(Object.keys(example)).toEqual(Object.keys(schema.properties))
  await expect(checkClaims({}, schema)).rejects.toThrow(/required/)
  await expect(checkClaims({ ...example, other: 1 }, schema)).rejects.toThrow(/other/)
})
