/**
 * Checks of the client of a request: wallet attestations, access tokens and DPoP, and the attack that each
 * one stops.
 */
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { attestKeys, clientId } from './_attestations.ts'
import { offered, open } from './_authorization.ts'
import { newDpopNonce, post, proofFor, type ProofParts } from './_dpop.ts'
import { check, proofJwt, type Check } from './_mutants.ts'
import {
  authorizedForm,
  boundToken,
  changeGrant,
  client,
  longAgo,
  now,
  preAuthorized,
  redeemAttested,
  send,
  take,
  takeBound,
  takeDpop,
  tokenOf,
  type Scene,
} from './_scene.ts'
import { newNonce } from './_wallet.ts'

const inPast = () => now() - 3_600
const stranger = generateKey('P-256')

/** Redeems a code with a DPoP proof that has other parts than a valid one. */
const redeemedWith =
  (parts: ProofParts) =>
  async ({ setup }: Scene) => {
    const nonce = await newDpopNonce(setup)
    return post(
      setup,
      'token',
      (await preAuthorized(setup)).form,
      proofFor(setup, 'token', { nonce, ...parts }),
    )
  }

const attestations: Check[] = [
  check(
    'client-attestation.ts',
    [
      "text === undefined && proof === undefined && providers.attestation === 'optional'",
      'text === undefined && proof === undefined',
    ],
    async ({ strict }) => post(strict, 'token', (await preAuthorized(strict)).form),
  ),
  check('client-attestation.ts', 'clientId !== undefined && clientId !== sub', (scene) =>
    redeemAttested(scene, {}, { client_id: 'another' }),
  ),
  check('client-attestation.ts', ['await useNonce(tx, proofId, endsMs)', 'true'], async (scene) => {
    const headers = client(scene)
    const send = async () =>
      post(scene.strict, 'token', (await preAuthorized(scene.strict)).form, undefined, headers)
    await send()
    return send()
  }),
  check(proofJwt, "!isMediaType(members['typ'], typ)", (scene) =>
    redeemAttested(scene, { proof: { header: { typ: 'openid4vci-proof+jwt' } } }),
  ),
  check(proofJwt, '!isSignedBy(jws, key)', (scene) => redeemAttested(scene, { prover: stranger })),
  check(proofJwt, "audience !== undefined && [jws.payload['aud']].flat()[0] !== audience", (scene) =>
    redeemAttested(scene, { proof: { claims: { aud: scene.setup.identifier } } }),
  ),
  check('client-attestation.ts', 'iss !== sub', (scene) =>
    redeemAttested(scene, { proof: { claims: { iss: 'another' } } }),
  ),
  check(proofJwt, 'exp !== undefined && exp <= now - leewaySeconds', (scene) =>
    redeemAttested(scene, { proof: { claims: { exp: inPast() } } }),
  ),
  check(proofJwt, 'maxAgeSeconds !== undefined && !(iat! >= now - maxAgeSeconds - leewaySeconds)', (scene) =>
    redeemAttested(scene, { proof: { claims: { iat: inPast() } } }),
  ),
  // A key attestation of the same provider.
  check(proofJwt, "!isMediaType(members['typ'], typ)", async (scene) => {
    const { strict, provider } = scene
    const key = generateKey('P-256')
    const claims = { sub: clientId, cnf: { jwk: toPublic(key) } }
    const attestation = attestKeys(provider, [key], await newNonce(strict), { claims })
    const headers = { ...client(scene, { key }), 'oauth-client-attestation': attestation }
    return post(strict, 'token', (await preAuthorized(strict)).form, undefined, headers)
  }),
  check('wallet-providers.ts', '!isByKey', (scene) => redeemAttested(scene, { signer: stranger })),
  check(proofJwt, 'exp !== undefined && exp <= now - leewaySeconds', (scene) =>
    redeemAttested(scene, { attestation: { claims: { exp: inPast() } } }),
  ),
  check('consent.ts', "providersOf(issuer)?.attestation === 'required'", async ({ strict }) =>
    open(strict, { ...(await offered(strict)).parameters, client_id: clientId }),
  ),
  // All wallets of a provider have the same client_id.
  check(
    'authorization-code.ts',
    'authorized.clientKey !== undefined && clientKey !== authorized.clientKey',
    async (scene) => {
      const { form } = await authorizedForm(scene.strict, { client_id: clientId }, undefined, client(scene))
      return post(scene.strict, 'token', form, undefined, client(scene))
    },
  ),
]

const tokens: Check[] = [
  check('access-token.ts', ['found && !isOverAt(found, endpoint)', 'found'], async (scene) => {
    const { token, recordId } = await tokenOf(scene.setup)
    await changeGrant(scene, recordId, { tokensEnd: longAgo })
    return take(scene.setup, token)
  }),
  // A stolen token, without its key.
  check('access-token.ts', ['jkt === null && !isDpop', 'true'], async ({ setup }) =>
    take(setup, (await boundToken(setup)).token),
  ),
  // A stolen token, with another key.
  check('access-token.ts', 'proof?.jkt !== jkt', ({ setup }) => takeBound(setup, { key: stranger })),
]

const dpop: Check[] = [
  check(
    proofJwt,
    "!isMediaType(members['typ'], typ)",
    redeemedWith({ header: { typ: 'openid4vci-proof+jwt' } }),
  ),
  check(
    'dpop.ts',
    ["z.literal('POST', 'is not the method of the request')", 'any'],
    redeemedWith({ claims: { htm: 'GET' } }),
  ),
  check(proofJwt, '!isSignedBy(jws, key)', ({ setup }) =>
    takeBound(setup, { signer: stranger, header: { alg: 'ES256' } }),
  ),
  check('dpop.ts', 'targetOf(htu) !== targetOf(url)', ({ setup, other }) =>
    takeBound(setup, { claims: { htu: `${other.identifier}/credentials` } }),
  ),
  check(
    proofJwt,
    'maxAgeSeconds !== undefined && !(iat! >= now - maxAgeSeconds - leewaySeconds)',
    redeemedWith({ claims: { iat: inPast() } }),
  ),
  check(
    proofJwt,
    'exp !== undefined && exp <= now - leewaySeconds',
    redeemedWith({ claims: { exp: inPast() } }),
  ),
  check('dpop.ts', 'accessToken !== undefined && ath !== digestOf(accessToken)', ({ setup }) =>
    takeBound(setup, { accessToken: 'another' }),
  ),
  check(
    'dpop.ts',
    ["readNonce(wallet, issuer.id, nonce, 'dpop')", 'Date.now() + 60_000'],
    redeemedWith({ nonce: 'invented' }),
  ),
  // The nonce of a key proof is for anyone, and that of DPoP is of a refusal.
  check('nonce.ts', ['`issuance-${purpose}:${issuerId}`', '`issuance:${issuerId}`'], async ({ setup }) => {
    const dpop = proofFor(setup, 'token', { nonce: await newNonce(setup) })
    return post(setup, 'token', (await preAuthorized(setup)).form, dpop)
  }),
  check('dpop.ts', ['await useNonce(tx, id, endsMs)', 'true'], async ({ setup }) => {
    const { token: accessToken, key, nonce } = await boundToken(setup)
    const dpop = proofFor(setup, 'credentials', { accessToken, key, nonce })
    // The request of the wallet is refused, for it has no key proof.
    await send(setup, 'credentials', {}, { authorization: `DPoP ${accessToken}`, dpop })
    return takeDpop(setup, accessToken, dpop)
  }),
]

export const clientChecks: Check[] = [...attestations, ...tokens, ...dpop]
