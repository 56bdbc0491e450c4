/** Checks of the client of a request: wallet attestations, access tokens and DPoP, and the attack that each one stops. */
import { generateKey, toPublic } from '../../src/crypto/keys.ts'
import { attestKeys, clientId } from './_attestations.ts'
import { offered, open } from './_authorization.ts'
import { newDpopNonce, post, proofFor, type ProofParts } from './_dpop.ts'
import type { Check } from './_mutants.ts'
import {
  authorizedForm,
  boundToken,
  changeSession,
  client,
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
  (parts: (nonce: string) => ProofParts) =>
  async ({ setup }: Scene) => {
    const nonce = await newDpopNonce(setup)
    return post(
      setup,
      'token',
      (await preAuthorized(setup)).form,
      proofFor(setup, 'token', { nonce, ...parts(nonce) }),
    )
  }

const attestations: Check[] = [
  {
    file: 'client-attestation.ts',
    text: "text === undefined && proof === undefined && providers.attestation === 'optional'",
    off: 'text === undefined && proof === undefined',
    attack: async ({ strict }) => post(strict, 'token', (await preAuthorized(strict)).form),
  },
  {
    file: 'client-attestation.ts',
    text: 'clientId !== undefined && clientId !== sub',
    off: 'false',
    attack: (scene) => redeemAttested(scene, {}, { client_id: 'another' }),
  },
  {
    file: 'client-attestation.ts',
    text: 'await useNonce(tx, proofId, endsMs)',
    off: 'true',
    attack: async (scene) => {
      const headers = client(scene)
      const send = async () =>
        post(scene.strict, 'token', (await preAuthorized(scene.strict)).form, undefined, headers)
      await send()
      return send()
    },
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: "!isMediaType(members['typ'], typ)",
    off: 'false',
    attack: (scene) => redeemAttested(scene, { proof: { header: { typ: 'openid4vci-proof+jwt' } } }),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: '!isSignedBy(jws, key)',
    off: 'false',
    attack: (scene) => redeemAttested(scene, { prover: stranger }),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: "audience !== undefined && [jws.payload['aud']].flat()[0] !== audience",
    off: 'false',
    attack: (scene) => redeemAttested(scene, { proof: { claims: { aud: scene.setup.identifier } } }),
  },
  {
    file: 'client-attestation.ts',
    text: 'iss !== sub',
    off: 'false',
    attack: (scene) => redeemAttested(scene, { proof: { claims: { iss: 'another' } } }),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: 'exp !== undefined && exp <= now - leewaySeconds',
    off: 'false',
    attack: (scene) => redeemAttested(scene, { proof: { claims: { exp: inPast() } } }),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: 'maxAgeSeconds !== undefined && !(iat! >= now - maxAgeSeconds - leewaySeconds)',
    off: 'false',
    attack: (scene) => redeemAttested(scene, { proof: { claims: { iat: inPast() } } }),
  },
  {
    // A key attestation of the same provider.
    file: 'src/credentials/proof-jwt.ts',
    text: "!isMediaType(members['typ'], typ)",
    off: 'false',
    attack: async (scene) => {
      const { strict, provider } = scene
      const key = generateKey('P-256')
      const claims = { sub: clientId, cnf: { jwk: toPublic(key) } }
      const attestation = attestKeys(provider, [key], await newNonce(strict), { claims })
      const headers = { ...client(scene, { key }), 'oauth-client-attestation': attestation }
      return post(strict, 'token', (await preAuthorized(strict)).form, undefined, headers)
    },
  },
  {
    file: 'wallet-providers.ts',
    text: '!isByKey',
    off: 'false',
    attack: (scene) => redeemAttested(scene, { signer: stranger }),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: 'exp !== undefined && exp <= now - leewaySeconds',
    off: 'false',
    attack: (scene) => redeemAttested(scene, { attestation: { claims: { exp: inPast() } } }),
  },
  {
    file: 'consent.ts',
    text: "providersOf(issuer)?.attestation === 'required'",
    off: 'false',
    attack: async ({ strict }) =>
      open(strict, { ...(await offered(strict)).parameters, client_id: clientId }),
  },
  {
    // All wallets of a provider have the same client_id.
    file: 'authorization-code.ts',
    text: 'authorized.clientKey !== undefined && clientKey !== authorized.clientKey',
    off: 'false',
    attack: async (scene) => {
      const { form } = await authorizedForm(scene.strict, { client_id: clientId }, undefined, client(scene))
      return post(scene.strict, 'token', form, undefined, client(scene))
    },
  },
]

const tokens: Check[] = [
  {
    file: 'access-token.ts',
    text: "!isOver(Date.parse(session.token_expires_at ?? ''))",
    off: 'true',
    attack: async (scene) => {
      const { token, recordId } = await tokenOf(scene.setup)
      await changeSession(scene, recordId, { token_expires_at: '2026-01-01T00:00:00.000Z' })
      return take(scene.setup, token)
    },
  },
  {
    // A stolen token, without its key.
    file: 'access-token.ts',
    text: 'jkt === null && !isDpop',
    off: 'true',
    attack: async ({ setup }) => take(setup, (await boundToken(setup)).token),
  },
  {
    // A stolen token, with another key.
    file: 'access-token.ts',
    text: 'proof?.jkt !== jkt',
    off: 'false',
    attack: ({ setup }) => takeBound(setup, () => ({ key: stranger })),
  },
]

const dpop: Check[] = [
  {
    file: 'src/credentials/proof-jwt.ts',
    text: "!isMediaType(members['typ'], typ)",
    off: 'false',
    attack: redeemedWith(() => ({ header: { typ: 'openid4vci-proof+jwt' } })),
  },
  {
    file: 'dpop.ts',
    text: "z.literal('POST', 'is not the method of the request')",
    off: 'any',
    attack: redeemedWith(() => ({ claims: { htm: 'GET' } })),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: '!isSignedBy(jws, key)',
    off: 'false',
    attack: ({ setup }) => takeBound(setup, () => ({ signer: stranger, header: { alg: 'ES256' } })),
  },
  {
    file: 'dpop.ts',
    text: 'targetOf(htu) !== targetOf(url)',
    off: 'false',
    attack: ({ setup, other }) =>
      takeBound(setup, () => ({ claims: { htu: `${other.identifier}/credentials` } })),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: 'maxAgeSeconds !== undefined && !(iat! >= now - maxAgeSeconds - leewaySeconds)',
    off: 'false',
    attack: redeemedWith(() => ({ claims: { iat: inPast() } })),
  },
  {
    file: 'src/credentials/proof-jwt.ts',
    text: 'exp !== undefined && exp <= now - leewaySeconds',
    off: 'false',
    attack: redeemedWith(() => ({ claims: { exp: inPast() } })),
  },
  {
    file: 'dpop.ts',
    text: 'accessToken !== undefined && ath !== digestOf(accessToken)',
    off: 'false',
    attack: ({ setup }) => takeBound(setup, () => ({ accessToken: 'another' })),
  },
  {
    file: 'dpop.ts',
    text: "readNonce(wallet, issuer.id, nonce, 'dpop')",
    off: 'Date.now() + 60_000',
    attack: redeemedWith(() => ({ nonce: 'invented' })),
  },
  {
    // The nonce of a key proof is for anyone, and that of DPoP is of a refusal.
    file: 'nonce.ts',
    text: '`issuance-${purpose}:${issuerId}`',
    off: '`issuance:${issuerId}`',
    attack: async ({ setup }) => {
      const dpop = proofFor(setup, 'token', { nonce: await newNonce(setup) })
      return post(setup, 'token', (await preAuthorized(setup)).form, dpop)
    },
  },
  {
    file: 'dpop.ts',
    text: 'await useNonce(tx, id, endsMs)',
    off: 'true',
    attack: async ({ setup }) => {
      const { token: accessToken, key, nonce } = await boundToken(setup)
      const dpop = proofFor(setup, 'credentials', { accessToken, key, nonce })
      // The request of the wallet is refused, for it has no key proof.
      await send(setup, 'credentials', {}, { authorization: `DPoP ${accessToken}`, dpop })
      return takeDpop(setup, accessToken, dpop)
    },
  },
]

export const clientChecks: Check[] = [...attestations, ...tokens, ...dpop]
