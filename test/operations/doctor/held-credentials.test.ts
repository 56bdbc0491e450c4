/**
 * `agent doctor` and held credentials: revoked without a notice, suspended, expired, or of an issuer that is
 * away.
 */
import { expect, test } from 'vitest'
import { issueSdJwtVc } from '../../../src/credentials/codecs/sd-jwt/sd-jwt-vc.ts'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { inState, licence, startHolderPair, take } from '../../exchange/oid4vci/holder/_holder.ts'
import { untilEnd } from '../../support/shared.ts'

const pair = await untilEnd(startHolderPair())

async function held() {
  const { checks } = await pair.agent.admin('GET /_system/doctor')
  return checks.find(({ name }) => name === 'held-credentials')
}

/** Replaces a held credential. */
function replace(recordId: string, credential: string) {
  return pair.agent.agent.wallets.use(pair.holder.walletId, (wallet) =>
    wallet.transaction((tx) =>
      tx.updateTable('credential').set({ credential }).where('id', '=', recordId).execute(),
    ),
  )
}

const issuerKey = generateKey('P-256')

/** A credential of another issuer, whose DID needs no ledger. */
function selfIssued(change: Partial<Parameters<typeof issueSdJwtVc>[0]>): string {
  const issuer = createJwkDid(toPublic(issuerKey))
  const type = { vct: 'https://types.example/a' }
  return issueSdJwtVc({ issuer, issuerKey, claims: {}, type, issuedAt: 1_600_000_000, ...change })
}

test('a held credential that is revoked or expired is named, and what to do about it', async () => {
  expect(await held()).toEqual({
    name: 'held-credentials',
    status: 'ok',
    detail: 'No wallet holds credentials.',
  })
  const first = await take(pair, licence)
  await inState(pair.holder, first.recordId, 'CredentialReceived')
  const second = await take(pair, licence)
  await inState(pair.holder, second.recordId, 'CredentialReceived')
  expect(await held()).toMatchObject({
    status: 'ok',
    detail: 'Of 2 held credentials that were checked, none is revoked, suspended or expired.',
  })

  await pair.setup.tenant.call('PATCH /credential-status/revoke-credential/{id}', {
    path: { id: first.issuerRecordId },
  })
  const { recordId: id } = first
  expect(await held()).toMatchObject({
    status: 'warning',
    detail: `Held credentials that verifiers refuse: 1 revoked, such as ${id} (revoked) of the wallet ${pair.holder.walletId}.`,
    hint: `agent credential show ${id}   # as the wallet’s tenant: ask its issuer for another one, then: agent credential remove ${id}`,
  })
  // The record, and with it the list of credentials, knows it too.
  const record = await pair.holder.call('GET /issue-credentials/records/{recordId}', {
    path: { recordId: id },
  })
  expect(record.standing?.status).toBe('revoked')

  await replace(second.recordId, selfIssued({ expiresAt: 1_700_000_000 }))
  expect((await held())!.detail).toContain('1 revoked, 1 expired, such as')
})

test('without an answer of the host of the list, what is remembered counts', async () => {
  await pair.setup.agent[Symbol.asyncDispose]()
  expect((await held())!.detail).toContain('1 revoked, 1 expired, such as')
  const { contents } = await pair.holder.call('GET /issue-credentials/records')
  const uri = `${pair.setup.agent.url}/credential-status/away`
  for (const { recordId } of contents)
    await replace(recordId, selfIssued({ status: { status_list: { idx: 7, uri } } }))
  expect((await held())!.detail).toMatch(/: 1 revoked, such as .*The status of 1 could not be read\.$/)
  for (const { recordId } of contents) await replace(recordId, 'x')
  expect(await held()).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(/The status of 2 could not be read\.$/),
  })
})
