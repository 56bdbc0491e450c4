/** Checks of requests for credentials, with their proofs, and the attack that each one stops. */
import { randomUUID } from 'node:crypto'
import { generateKey, type PrivateJwk } from '../../src/crypto/keys.ts'
import { attestKeys } from './_attestations.ts'
import {
  authorizedForm,
  client,
  fetchedAgo,
  now,
  send,
  take,
  takeWith,
  tokenOf,
  withWallet,
  type Scene,
} from './_scene.ts'
import type { Check } from './_mutants.ts'
import { newNonce, prove, redeem, unkeyedProof } from './_wallet.ts'

const stranger = generateKey('P-256')
const inPast = () => now() - 3_600

/** Requests the credential `Strong` with an attestation of a key that has other claims than a valid one. */
async function takeStrong(
  scene: Scene,
  {
    claims,
    inHeader = false,
    key = generateKey('P-256'),
  }: { claims?: object; inHeader?: boolean; key?: PrivateJwk },
) {
  const { strict, provider } = scene
  const { token } = await tokenOf(strict, { credentialConfigurationId: 'Strong' }, client(scene))
  const all = { key_storage: ['iso_18045_high'], ...claims }
  const attested = generateKey('P-256')
  const attestation = attestKeys(provider, [inHeader ? key : attested], await newNonce(strict), {
    claims: all,
  })
  const proofs = inHeader
    ? { jwt: [await prove(strict, { key, header: { key_attestation: attestation } })] }
    : { attestation: [attestation] }
  return take(strict, token, { credential_configuration_id: 'Strong', proofs })
}

/** Key proofs of one nonce. */
async function batch({ setup }: Scene, keys: readonly PrivateJwk[]) {
  const nonce = await newNonce(setup)
  return { jwt: await Promise.all(keys.map((key) => prove(setup, { key, claims: { nonce } }))) }
}

/** A token request for a credential that was asked for by authorization details. */
async function formByDetails(setup: Scene['setup']) {
  const authorization_details = JSON.stringify([
    { type: 'openid_credential', credential_configuration_id: 'Person' },
  ])
  return (await authorizedForm(setup, { scope: undefined, authorization_details })).form
}

const requests: Check[] = [
  {
    file: 'credential-request.ts',
    text: 'configuration.id !== granted',
    off: 'false',
    attack: async ({ setup }) =>
      take(setup, (await tokenOf(setup)).token, { credential_configuration_id: 'Licence' }),
  },
  {
    file: 'credential-request.ts',
    text: 'wanted !== undefined && identifier !== undefined',
    off: 'false',
    attack: async ({ setup }) => {
      const { access_token, authorization_details } = (await redeem(setup, await formByDetails(setup))).body
      const [credential_identifier] = authorization_details[0].credential_identifiers
      return take(setup, access_token, { credential_identifier })
    },
  },
  {
    file: 'credential-request.ts',
    text: 'identifier !== granted',
    off: 'false',
    attack: async ({ setup }) => {
      const { access_token } = (await redeem(setup, await formByDetails(setup))).body
      const body = { credential_identifier: 'another', proofs: { jwt: [await prove(setup)] } }
      return send(setup, 'credentials', body, { authorization: `Bearer ${access_token}` })
    },
  },
  {
    file: 'credential-request.ts',
    text: 'count > maxBatch',
    off: 'false',
    attack: async (scene) => {
      const keys = Array.from({ length: 11 }, () => generateKey('Ed25519'))
      return take(scene.setup, (await tokenOf(scene.setup)).token, { proofs: await batch(scene, keys) })
    },
  },
  {
    file: 'credential.ts',
    text: 'keys.some((each) => isSameKey(each.key, key))',
    off: 'false',
    attack: async (scene) => {
      const proofs = await batch(scene, [stranger, stranger])
      return take(scene.setup, (await tokenOf(scene.setup)).token, { proofs })
    },
  },
  {
    file: 'deferred.ts',
    text: "state === 'CredentialSent' && isOver(Date.parse(updatedAt!) + repeatMs)",
    off: 'false',
    attack: async ({ agent, setup }) => {
      const { token, recordId } = await deferred(setup)
      const path = { recordId }
      await setup.tenant.call('POST /issue-credentials/records/{recordId}/issue-credential', { path })
      const fetch = () =>
        send(
          setup,
          'deferred-credentials',
          { transaction_id: recordId },
          { authorization: `Bearer ${token}` },
        )
      await fetch()
      await fetchedAgo({ agent, tenant: setup.tenant }, recordId, 610)
      return fetch()
    },
  },
  {
    file: 'deferred.ts',
    text: 'data.transaction_id !== session.record_id',
    off: 'false',
    attack: async ({ setup }) => {
      const [own, foreign] = [await deferred(setup), await deferred(setup)]
      const body = { transaction_id: foreign.recordId }
      return send(setup, 'deferred-credentials', body, { authorization: `Bearer ${own.token}` })
    },
  },
  {
    file: 'notification.ts',
    text: "wanted !== id || record.state !== 'CredentialSent'",
    off: 'false',
    attack: async ({ setup }) => {
      const [{ token }, { recordId }] = [await tokenOf(setup), await tokenOf(setup)]
      const body = { notification_id: recordId, event: 'credential_accepted' }
      return send(setup, 'notifications', body, { authorization: `Bearer ${token}` })
    },
  },
]

async function deferred(setup: Scene['setup']) {
  const made = await tokenOf(setup, { automaticIssuance: false })
  await take(setup, made.token)
  return made
}

const proofs: Check[] = [
  {
    file: 'proof.ts',
    text: "checks.clientId !== undefined && typeof iss === 'string' && iss !== checks.clientId",
    off: 'false',
    attack: async ({ setup }) => {
      const { access_token } = (await redeem(setup, (await authorizedForm(setup)).form)).body
      return take(setup, access_token, {
        proofs: { jwt: [await prove(setup, { claims: { iss: 'thief' } })] },
      })
    },
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: "!isMediaType(members['typ'], typ)",
    off: 'false',
    attack: ({ setup }) => takeWith(setup, { header: { typ: 'dpop+jwt' } }),
  },
  {
    file: 'src/crypto/small-order.ts',
    text: "if (hasSmallOrder(jwk)) throw new TypeError('the key has a small order, so it protects nothing')",
    off: '',
    attack: ({ setup }) => takeWith(setup, unkeyedProof),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: "z.never('is private and must not be there').optional()",
    off: 'any',
    attack: ({ setup }) => takeWith(setup, { key: stranger, header: { jwk: stranger } }),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: "audience !== undefined && [jws.payload['aud']].flat()[0] !== audience",
    off: 'false',
    attack: ({ setup, other }) => takeWith(setup, { claims: { aud: other.identifier } }),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: 'exp !== undefined && exp <= now - leewaySeconds',
    off: 'false',
    attack: ({ setup }) => takeWith(setup, { claims: { exp: inPast() } }),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: 'iat !== undefined && iat > now + leewaySeconds',
    off: 'false',
    attack: ({ setup }) => takeWith(setup, { claims: { iat: now() + 3_600 } }),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: 'nbf !== undefined && nbf > now + leewaySeconds',
    off: 'false',
    attack: (scene) => takeStrong(scene, { claims: { nbf: now() + 3_600 } }),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: 'maxAgeSeconds !== undefined && !(iat! >= now - maxAgeSeconds - leewaySeconds)',
    off: 'false',
    attack: ({ setup }) => takeWith(setup, { claims: { iat: inPast() } }),
  },
  {
    file: 'proof.ts',
    text: 'checks.readNonce(nonce)',
    off: 'Date.now() + 60_000',
    attack: ({ setup }) => takeWith(setup, { claims: { nonce: randomUUID() } }),
  },
  {
    file: 'nonce.ts',
    text: '!isOver(endsMs)',
    off: 'true',
    attack: async (scene) => {
      const { setup } = scene
      const context = `issuance-nonce:${setup.issuerId}`
      const nonce = await withWallet(scene, (wallet) => wallet.seal(context, String(Date.now() - 3_600_000)))
      return takeWith(setup, { claims: { nonce } })
    },
  },
  {
    // A captured proof, for another session.
    file: 'issue.ts',
    text: 'await useNonce(tx, nonce, endsMs)',
    off: 'true',
    attack: async ({ setup }) => {
      const captured = { proofs: { jwt: [await prove(setup)] } }
      await take(setup, (await tokenOf(setup)).token, captured)
      return take(setup, (await tokenOf(setup)).token, captured)
    },
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: '!isSignedBy(jws, key)',
    off: 'false',
    attack: ({ setup }) => takeWith(setup, { key: generateKey('P-256'), signer: stranger }),
  },
]

const keyAttestations: Check[] = [
  {
    file: 'proof.ts',
    text: "if (requirement) throw invalidProof('its header has no key_attestation, which this credential requires')",
    off: '',
    attack: async (scene) => {
      const { token } = await tokenOf(scene.strict, { credentialConfigurationId: 'Strong' }, client(scene))
      return take(scene.strict, token, { credential_configuration_id: 'Strong' })
    },
  },
  {
    file: 'proof.ts',
    text: '!attestation.keys.some((each) => isSameKey(each, key))',
    off: 'false',
    attack: async (scene) => {
      const { strict, provider } = scene
      const { token } = await tokenOf(strict, { credentialConfigurationId: 'Strong' }, client(scene))
      const claims = { key_storage: ['iso_18045_high'] }
      const attested = [generateKey('P-256')]
      const key_attestation = attestKeys(provider, attested, await newNonce(strict), { claims })
      const jwt = [await prove(strict, { key: stranger, header: { key_attestation } })]
      return take(strict, token, { credential_configuration_id: 'Strong', proofs: { jwt } })
    },
  },
  {
    file: 'key-attestation.ts',
    text: 'accepted && !asserted.some((value) => accepted.includes(value))',
    off: 'false',
    attack: (scene) => takeStrong(scene, { claims: { key_storage: ['iso_18045_basic'] } }),
  },
  {
    file: 'key-attestation.ts',
    text: 'readNonce(claims.nonce)',
    off: 'Date.now() + 60_000',
    attack: (scene) => takeStrong(scene, { claims: { nonce: randomUUID() } }),
  },
  {
    file: 'key-attestation.ts',
    text: "place === 'header' ? ClaimsInHeader : Claims",
    off: 'Claims',
    attack: (scene) => takeStrong(scene, { claims: { exp: undefined }, inHeader: true }),
  },
]

export const credentialChecks: Check[] = [...requests, ...proofs, ...keyAttestations]
