/** A wallet of others, of the OpenWallet Foundation's library, takes credentials from the issuer. */
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { expect, test } from 'vitest'
import { takeCredentials } from './_foreign-wallet.ts'
import { offer, startIssuer } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())

test.each([
  ['by value', {}, ['ES256']],
  ['by reference, with a transaction code', { byReference: true, txCode: true }, ['EdDSA']],
  ['by value, for a batch of keys', {}, ['ES256', 'EdDSA', 'ES256']],
])('an offer %s', async (_, options, algorithms) => {
  const credentials = await takeCredentials(await offer(setup, options), algorithms)
  expect(credentials).toHaveLength(algorithms.length)
  for (const credential of credentials)
    expect(decodeJwtVc(credential)).toMatchObject({
      issuerDid: setup.issuingDID,
      claims: { name: 'Alice' },
    })
})
