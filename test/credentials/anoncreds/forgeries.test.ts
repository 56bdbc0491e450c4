/** Invalid proofs, each for one reason: changes that a prover can make to a valid proof, and to its subject. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProof } from '../../../src/credentials/anoncreds/holder.ts'
import { createEngine, type Engine } from '../../../src/credentials/anoncreds/engine.ts'
import type { Credential, CredentialDefinition } from '../../../src/credentials/anoncreds/model.ts'
import type { Presentation, PresentationRequest } from '../../../src/credentials/anoncreds/presentation.ts'
import { verifyProof, type Sources } from '../../../src/credentials/anoncreds/verify.ts'
import { Problem } from '../../../src/foundation/problem.ts'
import { VerificationError } from '../../../src/credentials/codecs/verification-error.ts'
import type { AnonCredsSchema } from '../../../src/credentials/schemas/anoncreds-schema.ts'
import { credDefId, definition, issue, made, openEngine, schemaId } from './_flow.ts'

const { schema } = made
const other = 'https://other.example/'

let engine: Engine
let credential: Credential
let secrets: string[]
let proof: Presentation
/** For a request without a predicate, because predicates take most of the time of a proof. */
let plain: Presentation
beforeAll(async () => {
  engine = createEngine()
  secrets = [await engine.createLinkSecret(), await engine.createLinkSecret()]
  credential = (await issue(engine, secrets[0]!)).credential
  proof = await prove(asked())
  plain = await prove(askedPlainly())
})
afterAll(() => engine.close())

/** A request for two attributes and a predicate. */
function asked(change: Partial<PresentationRequest> = {}): PresentationRequest {
  return {
    name: 'check',
    version: '1.0',
    nonce: '1234567890',
    requested_attributes: {
      who: { name: 'Given Name', restrictions: [{ cred_def_id: credDefId }] },
      where: { name: 'country', restrictions: [] },
    },
    requested_predicates: {
      adult: { name: 'age', p_type: '>=', p_value: 18, restrictions: [] },
    },
    ...change,
  }
}

const askedPlainly = (change: Partial<PresentationRequest> = {}) =>
  asked({ requested_predicates: {}, ...change })

function prove(
  request: PresentationRequest,
  change: { linkSecret?: string; credential?: Credential; unrevealed?: string[] } = {},
) {
  return createProof(engine, {
    request,
    credential,
    linkSecret: secrets[0]!,
    schema,
    definition,
    unrevealed: [],
    ...change,
  })
}

/** Schemas and definitions by URL, and the engine. */
function sources(
  change: { schema?: AnonCredsSchema; definition?: CredentialDefinition; isAuthentic?: boolean } = {},
): Sources {
  const known: Record<string, unknown> = {
    [schemaId]: change.schema ?? schema,
    [credDefId]: change.definition ?? definition,
    [`${other}schema`]: schema,
    [`${other}definition`]: { ...definition, schemaId: `${other}schema` },
  }
  const read = (url: string) => {
    if (known[url] === undefined)
      throw new Problem('error:CredentialSchemaError:SchemaDereferencingError', `there is nothing at ${url}.`)
    return Promise.resolve(known[url] as never)
  }
  return {
    anoncreds: engine,
    getAnonCredsSchema: async (url) => read(url),
    getCredentialDefinition: async (url) => read(url),
    isIssuerAuthentic: () => change.isAuthentic ?? true,
  }
}

/** A changed copy. */
function damaged<Value>(value: Value, change: (copy: any) => unknown): Value {
  const copy = structuredClone(value)
  change(copy)
  return copy
}

/** A proof whose members a change gets by short names. */
const forged = (presentation: Presentation, change: (members: any) => unknown) =>
  damaged(presentation, (copy) => {
    const {
      requested_proof: answers,
      proof: { proofs: parts },
      identifiers,
    } = copy
    const { revealed_attrs: revealed } = answers
    const part = parts[0].primary_proof
    const { predicate } = part.ge_proofs[0] ?? {}
    const [credential] = identifiers
    change({ copy, answers, revealed, who: revealed.who, parts, part, predicate, identifiers, credential })
  })

/** The reason why a proof is refused. */
async function refusalOf(presentation: unknown, request = asked(), from = sources()): Promise<string> {
  const text = typeof presentation === 'string' ? presentation : JSON.stringify(presentation)
  const outcome = await verifyProof(text, request, from).then(
    (presentation) => presentation,
    (error: unknown) => error,
  )
  if (outcome instanceof VerificationError) return outcome.message
  throw outcome instanceof Error ? outcome : new Error(`the proof was accepted: ${JSON.stringify(outcome)}`)
}

test('a valid proof reveals only the requested attributes, and names credentials with their issuers', async () => {
  expect(await verifyProof(JSON.stringify(proof), asked(), sources())).toEqual({
    revealed: { who: 'Alice', where: 'SE' },
    credentials: [{ issuerDid: schema.issuerId, schemas: [schemaId], definition: credDefId }],
  })
  expect(JSON.stringify(proof)).not.toContain('"30"')
})

test('a timeout is not a verification failure', async () => {
  await using hurried = openEngine({ timeMs: 1 })
  const verified = verifyProof(JSON.stringify(proof), asked(), { ...sources(), anoncreds: hurried })
  await expect(verified).rejects.toMatchObject({ type: 'error:ServiceUnavailable', retryAfter: 60 })
})

test('an unrevealed attribute is proved to be present, and its value is not in the proof', async () => {
  const kept = await prove(askedPlainly(), { unrevealed: ['where'] })
  expect(JSON.stringify(kept)).not.toContain('SE')
  expect((await verifyProof(JSON.stringify(kept), askedPlainly(), sources())).revealed).toEqual({
    who: 'Alice',
  })
})

describe('a changed proof', () => {
  const cases: [string, (members: any) => unknown, RegExp][] = [
    [
      'has another raw value than the encoded one',
      ({ who }) => (who.raw = 'Bob'),
      /revealed value of who is not the signed value/,
    ],
    ['has another number', ({ who }) => (who.encoded = '5'), /revealed value of who/],
    [
      'has another text and its number',
      ({ who }) => Object.assign(who, { raw: '7', encoded: '7' }),
      /revealed value of who is not the signed value/,
    ],
    [
      'reveals one attribute as another',
      ({ revealed }) => (revealed.who = revealed.where),
      /revealed value of who/,
    ],
    ['lacks an attribute', ({ revealed }) => delete revealed.who, /The attribute who is not answered/],
    [
      'lacks a predicate',
      ({ answers }) => delete answers.predicates.adult,
      /The predicate adult is not answered/,
    ],
    [
      'answers an item that was not requested',
      ({ revealed, who }) => (revealed.more = who),
      /more was not requested/,
    ],
    [
      'answers twice',
      ({ answers }) => (answers.unrevealed_attrs.who = { sub_proof_index: 0 }),
      /who was not requested, or is answered twice/,
    ],
    [
      'answers a predicate that was not requested',
      ({ answers }) => (answers.predicates.more = { sub_proof_index: 0 }),
      /more was not requested/,
    ],
    [
      'self-attests an attribute',
      ({ answers, revealed }) => {
        delete revealed.who
        answers.self_attested_attrs.who = 'Alice'
      },
      /who is self-attested/,
    ],
    ['proves another predicate', ({ predicate }) => (predicate.value += 1), /does not show that/],
    ['proves the reverse predicate', ({ predicate }) => (predicate.p_type = 'GT'), /does not show that/],
    [
      'proves it of another attribute',
      ({ predicate }) => (predicate.attr_name = 'country'),
      /does not show that/,
    ],
    ['lacks the proof of a predicate', ({ part }) => part.ge_proofs.pop(), /does not show that/],
    ['names a missing credential', ({ who }) => (who.sub_proof_index = 1), /has no part 1/],
    [
      'names no credential',
      ({ identifiers, parts }) => [identifiers, parts].forEach((all) => all.pop()),
      /names no credential/,
    ],
    [
      'has an additional credential',
      ({ identifiers }) => identifiers.push(identifiers[0]),
      /1 parts for 2 credentials/,
    ],
    ['has an additional part', ({ parts }) => parts.push(parts[0]), /2 parts for 1 credentials/],
    [
      'has a credential twice',
      ({ identifiers, parts }) => [identifiers, parts].forEach((all) => all.push(all[0])),
      /part 1 answers nothing/,
    ],
    [
      'proves a predicate a hundred times, which would take minutes',
      ({ part }) => (part.ge_proofs = Array(100).fill(part.ge_proofs[0])),
      /part 0 proves more predicates than it answers/,
    ],
    [
      'names another schema',
      ({ credential }) => (credential.schema_id = `${other}schema`),
      /is for another schema than/,
    ],
    [
      'names another definition',
      ({ credential }) => (credential.cred_def_id = `${other}definition`),
      /is for another schema than/,
    ],
    [
      'names a missing schema',
      ({ credential }) => (credential.schema_id = `${other}nothing`),
      /there is nothing at/,
    ],
    ['claims to be revocable', ({ credential }) => (credential.rev_reg_id = 'x'), /rev_reg_id: revocable/],
    ['has a changed number', ({ part }) => (part.eq_proof.v = '5'), /is invalid/],
    ['has a huge number', ({ part }) => (part.eq_proof.e = '9'.repeat(1_600)), /cannot be read: .*\.e: /],
    ['has text instead of a number', ({ part }) => (part.eq_proof.e = 'abc'), /cannot be read: .*\.e: /],
    ['lacks its parts', ({ copy }) => delete copy.proof, /cannot be read: proof/],
    [
      'has the reference __proto__',
      ({ answers }) => (answers.revealed_attrs = JSON.parse('{"__proto__":{}}')),
      /cannot be read|not answered/,
    ],
  ]
  test.each(cases)('%s', async (_, change, reason) => {
    expect(await refusalOf(forged(proof, change))).toMatch(reason)
  })

  test.each<[string, (members: any) => unknown]>([
    ['has a negative number', ({ part }) => (part.eq_proof.e = `-${part.eq_proof.e}`)],
    ['has another digest', ({ copy }) => (copy.proof.aggregated_proof.c_hash = '5')],
  ])('%s', async (_, change) => {
    expect(await refusalOf(forged(plain, change), askedPlainly())).toMatch(/is invalid/)
  })

  const texts: [string, string][] = [
    ['is not JSON', 'x'],
    ['is a token', 'eyJhbGciOiJub25lIn0.e30.'],
    ['is null', 'null'],
    ['is nested deeply', '['.repeat(200_000)],
    ['is oversized', `"${'x'.repeat(2_000_000)}"`],
  ]
  test.each(texts)('%s', async (_, text) => {
    expect(await refusalOf(text)).toMatch(/cannot be read|has more than/)
  })

  test('has a duplicate member', async () => {
    expect(await refusalOf(JSON.stringify(proof).replace('{', '{"proof":{},'))).toMatch(
      /names a member twice/,
    )
  })
})

describe('a proof for another request', () => {
  const predicates = (change: object) => ({
    requested_predicates: { ...asked().requested_predicates, ...change },
  })
  const cases: [string, PresentationRequest, RegExp][] = [
    [
      'lacks a requested attribute',
      asked({
        requested_attributes: { ...asked().requested_attributes, age: { name: 'age', restrictions: [] } },
      }),
      /The attribute age is not answered/,
    ],
    ['has a predicate that was not requested', asked({ requested_predicates: {} }), /was not requested/],
    [
      'proves a weaker predicate',
      asked(predicates({ adult: { name: 'age', p_type: '>=', p_value: 21, restrictions: [] } })),
      /adult does not show that age >= 21/,
    ],
    [
      'has another attribute under the same reference',
      asked({
        requested_attributes: { ...asked().requested_attributes, who: { name: 'age', restrictions: [] } },
      }),
      /revealed value of who/,
    ],
  ]
  test.each(cases)('%s', async (_, request, reason) => {
    expect(await refusalOf(proof, request)).toMatch(reason)
  })

  test('has another nonce', async () => {
    expect(await refusalOf(plain, askedPlainly({ nonce: '1234567891' }))).toMatch(/it is for another request/)
  })
})

describe('a proof by another holder', () => {
  test('has another link secret', async () => {
    const stolen = await prove(askedPlainly(), { linkSecret: secrets[1]! })
    expect(await refusalOf(stolen, askedPlainly())).toMatch(/did not sign the values/)
  })

  test('has a credential with another text, which was not signed', async () => {
    const raw = damaged(credential, ({ values }) => (values['Given Name'].raw = 'Bob'))
    expect(await refusalOf(await prove(askedPlainly(), { credential: raw }), askedPlainly())).toMatch(
      /revealed value of who/,
    )
    const both = damaged(credential, ({ values }) => (values['country'] = { raw: '7', encoded: '7' }))
    expect(await refusalOf(await prove(askedPlainly(), { credential: both }), askedPlainly())).toMatch(
      /did not sign the values/,
    )
  })

  test('is of a definition with another key, for other attributes, or another schema', async () => {
    const primary = { ...definition.value.primary, z: definition.value.primary.s }
    const another = sources({ definition: { ...definition, value: { primary } } })
    expect(await refusalOf(plain, askedPlainly(), another)).toMatch(/is invalid/)
    const wider = { ...schema, attrNames: [...schema.attrNames, 'email'] }
    expect(await refusalOf(proof, asked(), sources({ schema: wider }))).toMatch(/does not match its schema/)
    expect(
      await refusalOf(proof, asked(), sources({ definition: { ...definition, schemaId: other } })),
    ).toMatch(/another schema/)
  })
})

describe('a restriction', () => {
  const of = (...restrictions: Record<string, string>[]) =>
    asked({
      requested_attributes: { ...asked().requested_attributes, who: { name: 'Given Name', restrictions } },
    })
  const ofPredicate = (...restrictions: Record<string, string>[]) =>
    asked({
      requested_predicates: {
        ...asked().requested_predicates,
        adult: { name: 'age', p_type: '>=', p_value: 18, restrictions },
      },
    })

  const good: [string, PresentationRequest][] = [
    [
      'on everything at once',
      of({
        schema_id: schemaId,
        cred_def_id: credDefId,
        issuer_did: schema.issuerId,
        issuer_id: schema.issuerId,
      }),
    ],
    [
      'on the schema',
      of({
        schema_name: schema.name,
        schema_version: schema.version,
        schema_issuer_did: schema.issuerId,
        schema_issuer_id: schema.issuerId,
      }),
    ],
    [
      'on values and markers',
      of({ 'attr::Given Name::value': 'Alice', 'attr::country::value': 'SE', 'attr::age::marker': '1' }),
    ],
    ['with one of two alternatives satisfied', of({ schema_id: other }, { schema_id: schemaId })],
    ['on a predicate', ofPredicate({ cred_def_id: credDefId, 'attr::given name::value': 'Alice' })],
  ]
  test.each(good)('%s accepts the proof', async (_, request) => {
    await verifyProof(JSON.stringify(proof), request, {
      ...sources(),
      anoncreds: { verifyPresentation: async () => true },
    })
  })

  const bad: [string, PresentationRequest, RegExp, Sources?][] = [
    ...[
      'cred_def_id',
      'schema_id',
      'issuer_did',
      'issuer_id',
      'schema_issuer_did',
      'schema_name',
      'schema_version',
    ].map((tag): [string, PresentationRequest, RegExp] => [
      `on another ${tag}`,
      of({ [tag]: other }),
      new RegExp(`for who .* ${tag} must be ${other}`),
    ]),
    ['on another value', of({ 'attr::given name::value': 'Bob' }), /attr::given name::value must be Bob/],
    ['on an undisclosed value', of({ 'attr::age::value': '30' }), /attr::age::value/],
    ['on a missing attribute', of({ 'attr::email::marker': '1' }), /attr::email::marker/],
    ['with one part not satisfied', of({ schema_id: schemaId, cred_def_id: other }), /cred_def_id/],
    [
      'with neither of two alternatives satisfied',
      of({ schema_id: other }, { cred_def_id: other }),
      /or another restriction must be met/,
    ],
    ['on a predicate', ofPredicate({ cred_def_id: other }), /for adult .* cred_def_id/],
    [
      'with the schema in one alternative and the issuer in another',
      of({ schema_id: schemaId, issuer_did: other }, { schema_id: other, issuer_did: schema.issuerId }),
      /for who .* issuer_did must be/,
    ],
    ['on an unknown tag', of({ colour: 'red' }), /colour must be red/],
    ['on an unauthenticated issuer', of({ issuer_did: schema.issuerId }), /not authenticated/],
    [
      'on an unauthenticated issuer of the schema',
      of({ schema_issuer_did: schema.issuerId }),
      /not authenticated/,
    ],
  ]
  test.each(bad)('%s refuses the proof', async (what, request, reason) => {
    expect(
      await refusalOf(proof, request, sources({ isAuthentic: !what.includes('unauthenticated') })),
    ).toMatch(reason)
  })
})
