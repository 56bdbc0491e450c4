/** Checks of requests for credentials, with their proofs, and the attack that each one stops. */
import { randomUUID } from 'node:crypto'
import { generateKey, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { attestKeys } from './_attestations.ts'
import {
  authorizedForm,
  changeGrant,
  client,
  fetchedAgo,
  longAgo,
  now,
  send,
  take,
  takeWith,
  tokenOf,
  withWallet,
  type Scene,
} from './_scene.ts'
import { check, proofJwt, type Check } from './_mutants.ts'
import { fetchDeferred, newNonce, prove, redeem, setBearerDeferral, unkeyedProof } from './_wallet.ts'

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
  check('credential-request.ts', ['openid4vci?.configurationId === wanted', 'true'], async ({ setup }) =>
    take(setup, (await tokenOf(setup)).token, { credential_configuration_id: 'Licence' }),
  ),
  check('credential-request.ts', 'wanted !== undefined && identifier !== undefined', async ({ setup }) => {
    const { access_token, authorization_details } = (await redeem(setup, await formByDetails(setup))).body
    const [credential_identifier] = authorization_details[0].credential_identifiers
    return take(setup, access_token, { credential_identifier })
  }),
  check(
    'credential-request.ts',
    ['credentialIdentifierOf(each) === identifier', 'true'],
    async ({ setup }) => {
      const { access_token } = (await redeem(setup, await formByDetails(setup))).body
      const body = { credential_identifier: 'another', proofs: { jwt: [await prove(setup)] } }
      return send(setup, 'credentials', body, { authorization: `Bearer ${access_token}` })
    },
  ),
  check('credential-request.ts', 'count > maxBatch', async (scene) => {
    const keys = Array.from({ length: 11 }, () => generateKey('Ed25519'))
    return take(scene.setup, (await tokenOf(scene.setup)).token, { proofs: await batch(scene, keys) })
  }),
  check('credential.ts', 'keys.some((each) => isSameKey(each.key, key))', async (scene) => {
    const proofs = await batch(scene, [stranger, stranger])
    return take(scene.setup, (await tokenOf(scene.setup)).token, { proofs })
  }),
  check(
    'deferred.ts',
    "state === 'CredentialSent' && isOver(Date.parse(record.updatedAt!) + repeatMs)",
    async ({ agent, setup }) => {
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
  ),
  // A token that is found after its short time.
  check('access-token.ts', ['forDeferred.includes(endpoint)', 'true'], async (scene) => {
    const { token, recordId } = await tokenOf(scene.setup, { automaticIssuance: false })
    await changeGrant(scene, recordId, { tokensEnd: longAgo })
    return take(scene.setup, token)
  }),
  check('access-token.ts', ['found && !isOverAt(found, endpoint)', 'found'], async (scene) => {
    const { token, recordId } = await deferred(scene.setup)
    await changeGrant(scene, recordId, { tokensEnd: longAgo, deferralEnds: longAgo })
    return fetchDeferred(scene.setup, token, recordId)
  }),
  check('notification.ts', 'isOver && !record.requestedKeys', async (scene) => {
    const { token, recordId } = await tokenOf(scene.setup)
    await take(scene.setup, token)
    await changeGrant(scene, recordId, { tokensEnd: longAgo, deferralEnds: '2999-01-01T00:00:00.000Z' })
    return notify(scene.setup, token, recordId)
  }),
  check('token-lifetime.ts', ['isBound || bearer_deferral === 1', 'true'], async (scene) => {
    const { other } = scene
    await setBearerDeferral(other, false)
    const { token, recordId } = await deferred(other)
    await setBearerDeferral(other, true)
    await changeGrant(scene, recordId, { tokensEnd: longAgo })
    return fetchDeferred(other, token, recordId)
  }),
  check('deferred.ts', ['recordIds.includes(id)', 'true'], async ({ setup }) => {
    const [own, foreign] = [await deferred(setup), await deferred(setup)]
    const body = { transaction_id: foreign.recordId }
    return send(setup, 'deferred-credentials', body, { authorization: `Bearer ${own.token}` })
  }),
  check('notification.ts', ['recordIds.includes(id)', 'true'], async ({ setup }) => {
    const [own, foreign] = [await tokenOf(setup), await tokenOf(setup)]
    await take(setup, foreign.token)
    return notify(setup, own.token, foreign.recordId)
  }),
  check('notification.ts', "record?.state !== 'CredentialSent'", async ({ setup }) => {
    const { token, recordId } = await tokenOf(setup)
    return notify(setup, token, recordId)
  }),
]

function notify(setup: Scene['setup'], token: string, recordId: string) {
  const body = { notification_id: recordId, event: 'credential_accepted' }
  return send(setup, 'notifications', body, { authorization: `Bearer ${token}` })
}

async function deferred(setup: Scene['setup']) {
  const made = await tokenOf(setup, { automaticIssuance: false })
  await take(setup, made.token)
  return made
}

const proofs: Check[] = [
  check(
    'proof.ts',
    "checks.clientId !== undefined && typeof iss === 'string' && iss !== checks.clientId",
    async ({ setup }) => {
      const { access_token } = (await redeem(setup, (await authorizedForm(setup)).form)).body
      return take(setup, access_token, {
        proofs: { jwt: [await prove(setup, { claims: { iss: 'thief' } })] },
      })
    },
  ),
  check(proofJwt, "!isMediaType(members['typ'], typ)", ({ setup }) =>
    takeWith(setup, { header: { typ: 'dpop+jwt' } }),
  ),
  check(
    'src/foundation/crypto/small-order.ts',
    ["if (hasSmallOrder(jwk)) throw new TypeError('the key has a small order, so it protects nothing')", ''],
    ({ setup }) => takeWith(setup, unkeyedProof),
  ),
  check(proofJwt, ["z.never('is private and must not be there').optional()", 'any'], ({ setup }) =>
    takeWith(setup, { key: stranger, header: { jwk: stranger } }),
  ),
  check(
    proofJwt,
    "audience !== undefined && [jws.payload['aud']].flat()[0] !== audience",
    ({ setup, other }) => takeWith(setup, { claims: { aud: other.identifier } }),
  ),
  check(proofJwt, 'exp !== undefined && exp <= now - leewaySeconds', ({ setup }) =>
    takeWith(setup, { claims: { exp: inPast() } }),
  ),
  check(proofJwt, 'iat !== undefined && iat > now + leewaySeconds', ({ setup }) =>
    takeWith(setup, { claims: { iat: now() + 3_600 } }),
  ),
  check(proofJwt, 'nbf !== undefined && nbf > now + leewaySeconds', (scene) =>
    takeStrong(scene, { claims: { nbf: now() + 3_600 } }),
  ),
  check(
    proofJwt,
    'maxAgeSeconds !== undefined && !(iat! >= now - maxAgeSeconds - leewaySeconds)',
    ({ setup }) => takeWith(setup, { claims: { iat: inPast() } }),
  ),
  check('proof.ts', ['checks.readNonce(nonce)', 'Date.now() + 60_000'], ({ setup }) =>
    takeWith(setup, { claims: { nonce: randomUUID() } }),
  ),
  check('nonce.ts', ['!isOver(endsMs)', 'true'], async (scene) => {
    const { setup } = scene
    const context = `issuance-nonce:${setup.issuerId}`
    const nonce = await withWallet(scene, (wallet) => wallet.seal(context, String(Date.now() - 3_600_000)))
    return takeWith(setup, { claims: { nonce } })
  }),
  // A captured proof, for another session.
  check('signing.ts', ['await useNonce(tx, nonce, endsMs)', 'true'], async ({ setup }) => {
    const captured = { proofs: { jwt: [await prove(setup)] } }
    await take(setup, (await tokenOf(setup)).token, captured)
    return take(setup, (await tokenOf(setup)).token, captured)
  }),
  check(proofJwt, '!isSignedBy(jws, key)', ({ setup }) =>
    takeWith(setup, { key: generateKey('P-256'), signer: stranger }),
  ),
]

const keyAttestations: Check[] = [
  check(
    'proof.ts',
    [
      "if (requirement) throw invalidProof('its header has no key_attestation, which this credential requires')",
      '',
    ],
    async (scene) => {
      const { token } = await tokenOf(scene.strict, { credentialConfigurationId: 'Strong' }, client(scene))
      return take(scene.strict, token, { credential_configuration_id: 'Strong' })
    },
  ),
  check('proof.ts', '!attestation.keys.some((each) => isSameKey(each, key))', async (scene) => {
    const { strict, provider } = scene
    const { token } = await tokenOf(strict, { credentialConfigurationId: 'Strong' }, client(scene))
    const claims = { key_storage: ['iso_18045_high'] }
    const attested = [generateKey('P-256')]
    const key_attestation = attestKeys(provider, attested, await newNonce(strict), { claims })
    const jwt = [await prove(strict, { key: stranger, header: { key_attestation } })]
    return take(strict, token, { credential_configuration_id: 'Strong', proofs: { jwt } })
  }),
  check('key-attestation.ts', 'accepted && !asserted.some((value) => accepted.includes(value))', (scene) =>
    takeStrong(scene, { claims: { key_storage: ['iso_18045_basic'] } }),
  ),
  check('key-attestation.ts', ['readNonce(claims.nonce)', 'Date.now() + 60_000'], (scene) =>
    takeStrong(scene, { claims: { nonce: randomUUID() } }),
  ),
  check('key-attestation.ts', ["place === 'header' ? ClaimsInHeader : Claims", 'Claims'], (scene) =>
    takeStrong(scene, { claims: { exp: undefined }, inHeader: true }),
  ),
]

export const credentialChecks: Check[] = [...requests, ...proofs, ...keyAttestations]
