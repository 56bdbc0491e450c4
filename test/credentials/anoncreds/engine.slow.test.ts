/**
 * The AnonCreds engine with the real library: its results, its refusals, and its recovery from a crash of the
 * library.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { AnonCredsError } from '../../../src/credentials/anoncreds/engine.ts'
import { loadLibrary } from '../../../src/credentials/anoncreds/library.ts'
import { Credential, encodeValue } from '../../../src/credentials/anoncreds/model.ts'
import { isTemporary } from '../../../src/foundation/problem.ts'
import { credDefId, definition, issue, known, made, openEngine, request, schemaId, values } from './_flow.ts'

const engine = openEngine()
afterAll(() => engine.close())

test('the pinned SDK has the library in the expected private field', async () => {
  const { Issuer, Prover, Verifier } = await loadLibrary()
  expect(Issuer).toHaveProperty('createCredential')
  expect(Prover).toHaveProperty('createPresentation')
  expect(BigInt(Verifier.createNonce())).toBeGreaterThan(0n)
})

describe('a credential', () => {
  test('is issued to a link secret, and proves an attribute and a predicate', async () => {
    const linkSecret = await engine.createLinkSecret()
    const { credential } = await issue(engine, linkSecret)
    expect(
      Object.fromEntries(Object.entries(credential.values).map(([name, { raw }]) => [name, raw])),
    ).toEqual(values)
    const presentation = await engine.createPresentation({ request, credential, linkSecret, ...known })
    expect(presentation.requested_proof).toMatchObject({
      revealed_attrs: { name: { raw: 'Alice' } },
      predicates: { adult: {} },
    })
    expect(JSON.stringify(presentation)).not.toContain('"30"')
    expect(await engine.verifyPresentation({ presentation, request, ...known })).toBe(true)

    expect(
      await engine.verifyPresentation({ presentation, request: { ...request, nonce: '99' }, ...known }),
    ).toBe(false)
    const forged = structuredClone(presentation)
    forged.requested_proof.revealed_attrs['name']!.raw = 'Mallory'
    forged.requested_proof.revealed_attrs['name']!.encoded = encodeValue('Mallory')
    expect(await engine.verifyPresentation({ presentation: forged, request, ...known })).toBe(false)

    const older = {
      ...request,
      requested_predicates: { adult: { ...request.requested_predicates['adult']!, p_value: 31 } },
    }
    const unproved = engine.createPresentation({ request: older, credential, linkSecret, ...known })
    await expect(unproved).rejects.toThrow(
      new AnonCredsError('Invalid structure: Predicate is not satisfied'),
    )
  })

  test('for another link secret cannot be processed and proves nothing', async () => {
    const [linkSecret, other] = [await engine.createLinkSecret(), await engine.createLinkSecret()]
    const { issued: credential, metadata, credential: processed } = await issue(engine, linkSecret)
    await expect(
      engine.processCredential({ credential, metadata, linkSecret: other, definition }),
    ).rejects.toThrow(AnonCredsError)
    const plain = { ...request, requested_predicates: {} }
    const presentation = await engine.createPresentation({
      request: plain,
      credential: processed,
      linkSecret: other,
      ...known,
    })
    expect(await engine.verifyPresentation({ presentation, request: plain, ...known })).toBe(false)
  })

  test('with revocation is refused', () => {
    const revocable = { rev_reg_id: 'https://issuer.example/registry' }
    expect(Credential.safeParse(revocable).error?.issues.map(({ message }) => message)).toContain(
      'revocable AnonCreds credentials are not supported',
    )
  })
})

test.each([
  ['0', '0'],
  ['-2147483648', '-2147483648'],
  ['2147483647', '2147483647'],
  ['007', '7'],
  ['+5', '5'],
  ['-0', '0'],
  ['2147483648', '26221484005389514539852548961319751347124425277437769688639924217837557266135'],
  ['', '102987336249554097029535212322581322789799900648198034993379397001115665086549'],
  ['SE', '108642922459375320438764348896648346656482724558188364892864153823004278339643'],
  ['101 Wilson Lane', '68086943237164982734333428280784300550565381723532936263016368251445461241953'],
])('%j is encoded as %s', (raw, encoded) => {
  expect(encodeValue(raw)).toBe(encoded)
})

describe('the thread', () => {
  test('is replaced when the library crashes, and other operations succeed', async () => {
    const { primary } = made
    const zero = { ...definition, value: { primary: { ...primary, n: '0' } } }
    const offer = await engine.createOffer({
      schemaId,
      credDefId,
      keyCorrectnessProof: made.keyCorrectnessProof,
    })
    const linkSecret = await engine.createLinkSecret()
    const tasks = [zero, definition].map((definition) =>
      engine.createRequest({ definition, linkSecret, offer }),
    )
    const [panic, answer] = await Promise.allSettled(tasks)
    expect(panic).toMatchObject({ status: 'rejected', reason: expect.any(AnonCredsError) })
    expect(answer).toMatchObject({ status: 'fulfilled', value: { request: { cred_def_id: credDefId } } })
  })

  test('answers a temporary error on timeout and when too many operations wait', async () => {
    await using hurried = openEngine({ timeMs: 1, waiting: 1 })
    const tasks = await Promise.allSettled([1, 2, 3].map(() => hurried.createLinkSecret()))
    expect(
      tasks.map((task) => task.status === 'rejected' && isTemporary(task.reason) && task.reason.message),
    ).toEqual([
      'An AnonCreds operation took too long. Try again in a minute.',
      'An AnonCreds operation took too long. Try again in a minute.',
      'Too many AnonCreds operations are waiting. Try again in a few seconds.',
    ])
  })

  test('accepts no operation after close', async () => {
    const closed = openEngine()
    await closed.createLinkSecret()
    await closed.close()
    await expect(closed.createLinkSecret()).rejects.toMatchObject({ type: 'error:ServiceUnavailable' })
  })
})
