/**
 * `/oid4vci`: the public documents of OpenID4VCI issuers: metadata of the issuer, of its authorization server
 * and of types.
 */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import { pictureTypes } from '../../src/definitions/picture-bytes.ts'
import { CredentialTypeMetadata } from '../../src/exchange/oid4vci/credential-types.ts'
import { provideEncryptionKey } from '../../src/exchange/oid4vci/encryption-key.ts'
import {
  AuthorizationServerMetadata,
  IssuerMetadata,
  readAuthorizationServerMetadata,
  readIssuerMetadata,
} from '../../src/exchange/oid4vci/metadata.ts'
import { Digest, getPicture } from '../../src/exchange/oid4vci/media.ts'
import { readTypeMetadata } from '../../src/exchange/oid4vci/type-documents.ts'
import { signMetadata } from '../../src/exchange/oid4vci/signed-metadata.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { route, type Contract, type Input } from '../http/route.ts'
import { forWallets, withIssuer } from './_oid4vci.ts'

const path = { issuerId: Uuid }
const json = 'application/json' as const

/** The metadata of an issuer, which has two paths. */
const metadataContract = {
  ...forWallets,
  media: ['application/json', 'application/jwt'],
  path,
  reply: [200, IssuerMetadata],
  bodies: {
    'application/jwt': z.string().describe('The metadata as signed JWT, if the issuer has a certificate.'),
  },
} as const

/** Creates the encryption key of an issuer of an earlier release. */
async function readMetadata(agent: Agent, issuerId: string): Promise<IssuerMetadata> {
  const { db, env } = agent
  const metadata = await readIssuerMetadata(db, env.urls.rest, issuerId)
  if (metadata.credential_request_encryption) return metadata
  await withIssuer(agent, issuerId, (wallet) => provideEncryptionKey(db, wallet, issuerId))
  return readIssuerMetadata(db, env.urls.rest, issuerId)
}

async function replyMetadata(
  { agent }: { agent: Agent },
  { path: { issuerId }, accepts }: { path: { issuerId: string } } & Pick<Input<Contract>, 'accepts'>,
) {
  const headers = { Vary: 'Accept' }
  const body = await readMetadata(agent, issuerId)
  const signed =
    accepts(metadataContract.media) === 'application/jwt'
      ? await withIssuer(agent, issuerId, (wallet, issuer) => signMetadata(wallet, issuer, body))
      : undefined
  return signed === undefined
    ? { type: json, body, headers }
    : { type: 'application/jwt' as const, body: signed, headers }
}

/**
 * The metadata of the built-in authorization server, which has two paths: some wallets append the well-known
 * one.
 */
const serverMetadataContract = {
  extension: true,
  ...forWallets,
  path,
  reply: [200, AuthorizationServerMetadata],
} as const

const replyServerMetadata = async (
  { agent: { db, env } }: { agent: Agent },
  { path: { issuerId } }: { path: { issuerId: string } },
) => ({ type: json, body: await readAuthorizationServerMetadata(db, env.urls.rest, issuerId) })

/** A picture never changes, and does nothing where a browser opens it. Any page may show it. */
const pictureHeaders = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/** `v2` */
const Version = z
  .string()
  .regex(/^v[1-9]\d{0,5}$/)
  .transform((version) => Number(version.slice(1)))

export default [
  route(
    'GET /oid4vci/issuers/{issuerId}/.well-known/openid-credential-issuer',
    {
      summary: 'Read the metadata of an issuer',
      operationId: 'getIssuerMetadata',
      ...metadataContract,
    },
    replyMetadata,
  ),

  route(
    'GET /.well-known/openid-credential-issuer/oid4vci/issuers/{issuerId}',
    {
      summary: 'Read the metadata of an issuer, at the path of the specification',
      operationId: 'getIssuerMetadataAtInsertedPath',
      extension: true,
      ...metadataContract,
    },
    replyMetadata,
  ),

  route(
    'GET /.well-known/oauth-authorization-server/oid4vci/issuers/{issuerId}',
    {
      summary: 'Read the metadata of the built-in authorization server of an issuer',
      operationId: 'getAuthorizationServerMetadata',
      ...serverMetadataContract,
    },
    replyServerMetadata,
  ),

  route(
    'GET /oid4vci/issuers/{issuerId}/.well-known/oauth-authorization-server',
    {
      summary: 'Read the metadata of the built-in authorization server, at the appended path',
      operationId: 'getAuthorizationServerMetadataAtAppendedPath',
      ...serverMetadataContract,
    },
    replyServerMetadata,
  ),

  route(
    'GET /oid4vci/issuers/{issuerId}/credential-types/{configurationId}',
    {
      summary: 'Read the type metadata of an SD-JWT VC',
      operationId: 'getCredentialTypeMetadata',
      extension: true,
      ...forWallets,
      path: { ...path, configurationId: z.string().max(255) },
      reply: [200, CredentialTypeMetadata],
    },
    async ({ agent: { db, env } }, { path: { issuerId, configurationId: id } }) => ({
      type: json,
      body: await readTypeMetadata(db, env.urls.rest, { issuerId, id, version: 1 }),
    }),
  ),

  route(
    'GET /oid4vci/issuers/{issuerId}/credential-types/{configurationId}/{version}',
    {
      summary: 'Read the type metadata of a later version of an SD-JWT VC',
      operationId: 'getCredentialTypeMetadataOfVersion',
      extension: true,
      ...forWallets,
      path: { ...path, configurationId: z.string().max(255), version: Version },
      reply: [200, CredentialTypeMetadata],
    },
    async ({ agent: { db, env } }, { path: { issuerId, configurationId: id, version } }) => ({
      type: json,
      body: await readTypeMetadata(db, env.urls.rest, { issuerId, id, version }),
    }),
  ),

  route(
    'GET /oid4vci/issuers/{issuerId}/media/{digest}',
    {
      summary: 'Read a picture of an issuer',
      operationId: 'getCredentialIssuerMedia',
      extension: true,
      ...forWallets,
      media: pictureTypes,
      path: { ...path, digest: Digest },
      reply: [200, z.string().meta({ format: 'binary' })],
    },
    async ({ agent: { db } }, { path: { issuerId, digest } }) => {
      const { mediaType, bytes } = await getPicture(db, issuerId, digest)
      return { type: mediaType, body: bytes, headers: { ...pictureHeaders, ETag: `"${digest}"` } }
    },
  ),
] as const
