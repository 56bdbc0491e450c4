/** Credentials and status lists of other software that are odd, and what is made of them. */
import { verifyJwtVc } from './_verify.ts'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { toBase64url } from '../../../src/foundation/bytes.ts'
import { signJws } from '../../../src/credentials/codecs/jws.ts'
import { type CredentialStatus } from '../../../src/credentials/codecs/jwt-vc.ts'
import { checkStatusList, readStatusEntry } from '../../../src/credentials/codecs/status-list.ts'
import { vc } from './_forge.ts'
import { issuer, now, resolve } from './_people.ts'
import { ecKey, url } from './_status-lists.ts'

describe('a credential', () => {
  // trustbloc/vc-go and hyperledger/aries-framework-go, pkg/doc/verifiable/credential_test.go; Eclipse EDC
  // stores credentials with the same members (dsp-true-connector, documentation of its identity hub).
  test('whose absent members are null', async () => {
    const jwt = vc((payload) => {
      const absent = ['credentialSchema', 'proof', 'expirationDate', 'credentialStatus', 'evidence', 'name']
      for (const name of absent) payload['vc'][name] = null
      payload['jti'] = null
      delete payload['exp']
    })
    const verified = await verifyJwtVc(jwt, { resolve, now })
    expect(verified).toMatchObject({ schemas: [], statuses: [] })
    expect(verified).not.toHaveProperty('validUntil')
  })

  test('whose claims are null keeps them', async () => {
    const jwt = vc((payload) => {
      payload['vc'].credentialSubject.middleName = null
    })
    expect((await verifyJwtVc(jwt, { resolve, now })).claims).toMatchObject({ middleName: null })
  })
})

// cheqd/product-docs,
// sdk/veramo/status-list-v2021/issuing-a-verifiable-credential-referencing-status-list.md: a status of
// several bits, with a message for each value.
describe('a status with a message', () => {
  const entry = {
    type: 'BitstringStatusListEntry',
    statusPurpose: 'message',
    statusListIndex: '65675',
    statusListCredential: url,
    statusSize: 2,
    statusMessage: ['valid', 'revoked', 'suspended', 'unknown'].map((message, value) => ({
      status: `0x${value}`,
      message,
    })),
  }

  /** Checks the status of a list that has a value at the index of the entry. */
  function check(value: number, change: object = {}) {
    const status: CredentialStatus = { ...entry, ...change }
    const [index, size] = [Number(status.statusListIndex), Number(status['statusSize'])]
    const bits = new Uint8Array(32_768)
    const first = index * size
    for (let bit = 0; bit < size; bit++)
      if ((value >> (size - 1 - bit)) & 1) bits[(first + bit) >> 3]! |= 0x80 >> ((first + bit) & 7)
    const list = {
      '@context': ['https://www.w3.org/ns/credentials/v2'],
      id: url,
      type: ['VerifiableCredential', 'BitstringStatusListCredential'],
      issuer: issuer.did,
      validUntil: null,
      credentialSubject: {
        type: 'BitstringStatusList',
        statusPurpose: status.statusPurpose,
        encodedList: `u${toBase64url(gzipSync(bits))}`,
      },
    }
    const text = signJws({ typ: 'vc+jwt', kid: `${issuer.did}#issue-1` }, list, ecKey)
    return checkStatusList(text, readStatusEntry(status), { issuerDid: issuer.did }, { resolve, now })
  }

  test('is valid with the value 0, and otherwise refused with the message', async () => {
    await expect(check(0)).resolves.toBeUndefined()
    await expect(check(1)).rejects.toThrow('the status of the credential is 0x1, "revoked"')
    await expect(check(2)).rejects.toThrow('0x2, "suspended"')
    await expect(check(3, { statusMessage: undefined })).rejects.toThrow(
      'the status of the credential is 0x3',
    )
    // A status may begin in one byte and end in the next.
    await expect(check(5, { statusSize: '3', statusListIndex: 2, statusMessage: null })).rejects.toThrow(
      '0x5',
    )
  })

  test('of several bits, a credential is revoked by any value but 0', async () => {
    await expect(check(0, { statusPurpose: 'revocation' })).resolves.toBeUndefined()
    await expect(check(2, { statusPurpose: 'revocation' })).rejects.toThrow('the credential is revoked')
  })

  test('is refused for an unknown purpose and an odd size', async () => {
    expect(() => readStatusEntry({ ...entry, statusPurpose: 'fraud' })).toThrow('statusPurpose')
    for (const statusSize of [0, -1, 1.5, 33, 'a'])
      expect(() => readStatusEntry({ ...entry, statusSize })).toThrow('statusSize')
  })
})
