/** Checks of access tokens of an external authorization server, and the attack that each one stops. */
import { startAuthorizationServer } from './_authorization-server.ts'
import type { Check } from './_mutants.ts'
import { expire, externalState, take, useServer, type Scene } from './_scene.ts'

/** Requests the credential with a JWT that has other claims and another header than a valid one. */
const byJwt =
  (claims: (scene: Scene) => Record<string, unknown>, header: object = {}) =>
  async (scene: Scene) => {
    const { external, server } = scene
    const { issuerState } = await externalState(external)
    const all = { aud: external.identifier, issuer_state: issuerState, ...claims(scene) }
    return take(external, await server.sign(all, header))
  }

/** Requests the credential with an opaque token, of which the server says something else than of a valid one. */
const byIntrospection = (said: object) => async (scene: Scene) => {
  const { external, server } = scene
  const { issuerState } = await externalState(external)
  server.state.introspected = { active: true, issuer_state: issuerState, ...said }
  return take(external, 'opaque')
}

export const externalChecks: Check[] = [
  {
    file: 'external-server.ts',
    text: 'issuer: known.metadata.issuer',
    off: '',
    attack: byJwt(() => ({ iss: 'https://thief.example' })),
  },
  {
    file: 'external-server.ts',
    text: 'audience: audiences',
    off: '',
    attack: byJwt(() => ({ aud: 'https://api.example' })),
  },
  {
    file: 'external-server.ts',
    text: "requiredClaims: ['exp']",
    off: '',
    attack: byJwt(() => ({ exp: undefined })),
  },
  {
    file: 'external-server.ts',
    text: "!isMediaType(protectedHeader.typ ?? 'JWT', 'JWT', 'at+jwt')",
    off: 'false',
    attack: byJwt(() => ({}), { typ: 'logout+jwt' }),
  },
  {
    file: 'external-server.ts',
    text: '!active || (exp !== undefined && exp * 1_000 <= Date.now())',
    off: 'false',
    attack: byIntrospection({ active: false }),
  },
  {
    file: 'external-server.ts',
    text: 'iss !== issuer || ![aud].flat().some((each) => audiences.includes(each))',
    off: 'false',
    attack: byIntrospection({ aud: 'https://api.example' }),
  },
  {
    file: 'external-server.ts',
    text: '!isSameIssuer(metadata.issuer, url)',
    off: 'false',
    attack: async (scene) => {
      await using server = await startAuthorizationServer()
      server.state.issuer = 'https://login.example'
      await useServer(scene.external, server.url)
      try {
        return await byJwt(() => ({ iss: 'https://login.example' }))({ ...scene, server })
      } finally {
        await useServer(scene.external, scene.server.url)
      }
    },
  },
  {
    // An offer belongs to the server that the issuer had.
    file: 'access-token.ts',
    text: 'session?.authorization_server !== server.url',
    off: 'false',
    attack: async (scene) => {
      const { external } = scene
      const { issuerState } = await externalState(external)
      await using server = await startAuthorizationServer()
      await useServer(external, server.url)
      try {
        return await take(
          external,
          await server.sign({ aud: external.identifier, issuer_state: issuerState }),
        )
      } finally {
        await useServer(external, scene.server.url)
      }
    },
  },
  {
    file: 'access-token.ts',
    text: 'isOver((record.openid4vci?.expiresTime ?? 0) * 1_000)',
    off: 'false',
    attack: async (scene) => {
      const { external, server } = scene
      const { issuerState, recordId } = await externalState(external)
      await expire(scene, recordId)
      return take(external, await server.sign({ aud: external.identifier, issuer_state: issuerState }))
    },
  },
]
