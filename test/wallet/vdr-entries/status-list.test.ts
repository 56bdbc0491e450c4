/** A credential whose status list is a VDR entry, on the ledger and in the database of the verifier's agent. */
import { verifySdJwt } from '../../credentials/codecs/_verify.ts'
import { expect, test } from 'vitest'
import { statusChecks } from '../../../src/wallet/credential-status/check.ts'
import { issueSdJwtVc } from '../../../src/credentials/codecs/sd-jwt/sd-jwt-vc.ts'
import { compressStatuses, signTokenStatusList } from '../../../src/credentials/codecs/token-status-list.ts'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { sharedAgent, startAgent } from '../../support/agent.ts'
import { askEntry, createEntry, createVdrDid, publish } from './_entries.ts'

test.each(['ledger', 'database'])('a revocation in a VDR entry takes effect: %s', async (drid) => {
  const home = await sharedAgent()
  await using away = await startAgent({ VDR_URL: home.url })
  const verifier = drid === 'ledger' ? away : home
  const issuer = await home.newTenant()
  const { apiKey } = issuer
  if (drid === 'ledger') await publish(issuer, await createVdrDid(issuer, 'vdr-1'))
  // The list names its own URL, so that the entry comes first.
  const uri = await createEntry(home, apiKey, new Uint8Array(), { drid })
  const key = generateKey('P-256')
  const did = createJwkDid(toPublic(key))
  const issuedAt = Math.floor(Date.now() / 1_000)
  const publishList = async (status: number) => {
    const lst = compressStatuses([[7, status]], 1, 1_000)
    const times = { issuedAt, expiresAt: issuedAt + 3_600, ttlSeconds: 300 }
    const list = signTokenStatusList({
      url: uri,
      issuer: did,
      kid: `${did}#0`,
      key,
      bits: 1,
      lst,
      ...times,
    })
    const { status: answered } = await askEntry(
      home,
      'PUT',
      { url: uri },
      { apiKey, content: Buffer.from(list) },
    )
    expect(answered).toBe(200)
  }
  const credential = issueSdJwtVc({
    issuer: did,
    issuerKey: key,
    claims: { name: 'Alice' },
    type: { vct: 'https://types.example/a' },
    status: { status_list: { idx: 7, uri } },
    issuedAt,
  })
  const { env } = verifier.agent
  const verify = () =>
    verifySdJwt(credential, { resolve: env.resolver.document, now: Date.now() / 1_000, ...statusChecks(env) })
  await expect(verify()).rejects.toThrow()
  await publishList(0)
  expect((await verify()).claims).toEqual({ name: 'Alice' })
  await publishList(1)
  await expect(verify()).rejects.toThrow('the credential is revoked')
  await askEntry(home, 'DELETE', { url: uri }, { apiKey })
  await expect(verify()).rejects.toThrow('There is no VDR entry at this URL')
})
