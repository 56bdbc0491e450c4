/** Proof requests: whose credentials they accept, in words, and what the record says of the answer. */
import { describe, expect, test } from 'vitest'
import { proofRequestText } from '../../cli/format/proof-request.ts'
import { startConnected } from '../flows/_steps.ts'
import { connect, presentationIn } from '../support/tenants.ts'
import { newUser, words } from './_cli.ts'
import { startCommandedPair } from './_agents.ts'

const jwt = {
  options: { challenge: 'c', domain: 'd' },
  presentation_definition: { id: 'x', input_descriptors: [] },
}
const schemaId = 'https://schemas.example/employee'
const issuer = `did:prism:${'ab'.repeat(32)}`
const restrictions = [{ schema_id: schemaId, issuer_did: issuer }]

test.each([
  ['any JWT credential', jwt, []],
  ['a JWT credential with the schema employee', jwt, [{ schemaId: 'https://schemas.example/employee.json' }]],
  [
    'a JWT credential with the schema …1f2c9a3b of agent.example:8085',
    jwt,
    [{ schemaId: 'http://agent.example:8085/schema-registry/schemas/0190ab12-0000-7000-8000-12341f2c9a3b' }],
  ],
  [
    'a JWT credential with the schema employee, issued by did:prism:ababa…abababab, and one with the schema b',
    jwt,
    [
      { schemaId, trustIssuers: [`${issuer}:long`] },
      { schemaId: 'https://schemas.example/b', trustIssuers: [] },
    ],
  ],
  ['any SD-JWT credential', { options: jwt.options, claims: {} }, []],
  ['name and address.city of an SD-JWT credential', { claims: { name: '', address: { city: '' } } }, []],
  [
    'name and age ≥ 18 of an AnonCreds credential',
    {
      requested_attributes: { a: { name: 'name' } },
      requested_predicates: { p: { name: 'age', p_type: '>=', p_value: 18 } },
    },
    [],
  ],
  [
    'name of an AnonCreds credential with the schema employee, issued by did:prism:ababa…abababab',
    { requested_attributes: { a: { name: 'name', restrictions } }, requested_predicates: {} },
    [],
  ],
  [
    'Proof of employment (employer = Acme and name)',
    {
      presentation_definition: {
        input_descriptors: [
          {
            id: 'one',
            name: 'Proof of employment',
            constraints: {
              fields: [
                { path: ['$.vc.credentialSubject.employer'], filter: { const: 'Acme' } },
                { path: ['$.credentialSubject.name'] },
              ],
            },
          },
        ],
      },
    },
    [],
  ],
])('%s', (text, content, proofs) => {
  expect(proofRequestText({ requestData: [JSON.stringify(content)], proofs })).toBe(text)
})

describe('whose credentials a request accepts', () => {
  test.each([
    ['nothing', [], ''],
    ['a schema alone', ['--schema', schemaId], ''],
    ['a query without authorities', ['--dcql', '-'], JSON.stringify({ credentials: [{ id: 'a' }] })],
  ])('%s does not say it, and both ways out are named', async (_, flags, input) => {
    using user = newUser()
    const connection = words`proof request --connection 01980000-0000-7000-8000-000000000001`
    const asking = ['--url', 'http://127.0.0.1:9', ...flags]
    for (const line of [connection, words`proof request --invitation`])
      expect(await user.run([...line, ...asking], { input })).toMatchObject({
        code: 2,
        err: expect.stringMatching(/--trust-issuer <did>, or .*--any-issuer/),
      })
  })

  test('over OpenID4VP it is said too, and the two flags exclude each other', async () => {
    using user = newUser()
    const input = JSON.stringify({ credentials: [{ id: 'a' }] })
    const asking = words`proof request --oid4vp --dcql - --url http://127.0.0.1:9`
    expect(await user.run(asking, { input })).toMatchObject({
      code: 2,
      err: expect.stringContaining('--any-issuer'),
    })
    const both = await user.run([...asking, '--any-issuer', '--trust-issuer', issuer], { input })
    expect(both.code).toBe(2)
  })

  test('the record says who presented what, by whom it is issued, and whether the issuer was checked', async () => {
    await using pair = await startConnected()
    const { holder, issuer: verifier, connectionId, issuingDID, subjectId } = pair
    await pair.toHolder({ name: 'Alice' })
    using user = newUser()
    const as = ({ apiKey }: { apiKey: string }) =>
      user.as({ AGENT_URL: pair.agent.url, AGENT_API_KEY: apiKey })
    const prove = async (...flags: string[]) => {
      const made = await as(verifier).json`proof request --connection ${connectionId} ${flags}`
      const { presentationId } = await presentationIn(holder.call, made.thid, 'RequestReceived')
      expect((await as(holder).run`proof present ${presentationId}`).code).toBe(0)
      await presentationIn(verifier.call, made.thid, 'PresentationVerified')
      return as(verifier).run`proof show ${made.presentationId}`
    }
    const checked = (await prove('--trust-issuer', issuingDID)).out
    for (const line of [
      /state +PresentationVerified \(the presentation is valid\)/,
      new RegExp(`trusted issuer +${issuingDID}`),
      new RegExp(`presented by +${subjectId}`),
      /shown name +Alice/,
      new RegExp(`^issuer +${issuingDID}`, 'm'),
      /passed +form, audience, nonce, time, trust, validity, holder-binding, signature, status/,
      /issuer check +only issuers that the request accepts/,
    ])
      expect(checked).toMatch(line)
    const nobody = await as(verifier).run`proof request --connection ${connectionId} --trust-issuer nobody`
    expect(nobody).toMatchObject({
      code: 3,
      err: expect.stringMatching(
        /There is no DID "nobody"\. Name a DID, such as did:prism:…, its label, or at least 4 .*\n *Try: agent did list/,
      ),
    })
    const path = { didRef: issuingDID }
    await verifier.call('PATCH /did-registrar/dids/{didRef}', { path, body: { label: 'Acme' } })
    expect((await prove('--trust-issuer', 'acme')).out).toMatch(
      new RegExp(`^trusted issuer +Acme \\(${issuingDID}\\)$`, 'm'),
    )
    const unchecked = (await prove('--any-issuer')).out
    expect(unchecked).toContain('PresentationVerified (the presentation is valid, issuer not checked)')
    expect(unchecked).toMatch(/issuer check +none: the request accepts credentials of any issuer/)
    expect((await as(verifier).run`proof list`).out).toContain('PresentationVerified, any issuer')
  })
})

test('both sides see the request in words in show and list, and JSON only with --json', async () => {
  await using pair = await startCommandedPair()
  const { holder, issuer: verifier, as } = pair
  const { inviterConnectionId } = await connect(verifier, holder)
  const asking = words`
    proof request --connection ${inviterConnectionId} --schema ${schemaId} --trust-issuer ${issuer}
  `
  const made = await as(verifier).run`${asking} --domain shop.example --json`
  const { presentationId, requestData } = JSON.parse(made.out)
  const asked = 'a JWT credential with the schema employee, issued by did:prism:ababa…abababab'
  await expect.poll(async () => (await as(holder).run`proof list`).out).toContain('RequestReceived')
  const [received] = (await as(holder).json`proof list`).contents
  expect(received.requestData).toEqual(requestData)
  for (const [who, id] of [
    [verifier, presentationId],
    [holder, received.presentationId],
  ]) {
    const shown = await as(who).run`proof show ${id}`
    expect(shown.out).toMatch(new RegExp(`asked for +${asked}\n`))
    expect(shown.out).toMatch(new RegExp(`schema +${schemaId}\n`))
    expect(shown.out).toMatch(new RegExp(`trusted issuer +${issuer}\n`))
    expect(shown.out).toContain('shop.example')
    expect(shown.out + (await as(who).run`proof list`).out).not.toContain('{')
    expect((await as(who).run`proof list`).out).toContain(asked)
  }
})
