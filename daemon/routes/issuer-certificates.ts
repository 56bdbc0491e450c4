/** `/issuer-certificates`: keys of an issuer, with their X.509 certificates (extension). */
import * as z from 'zod'
import { listNotFound } from '../../src/wallet/issuer-certificates/authorities.ts'
import {
  deleteCertificate,
  getCertificate,
  listCertificates,
} from '../../src/wallet/issuer-certificates/certificates.ts'
import {
  createDevelopmentCertificate,
  renewCertificate,
  revokeCertificate,
} from '../../src/wallet/issuer-certificates/development.ts'
import { importChain, requestCertificate } from '../../src/wallet/issuer-certificates/requests.ts'
import { publishCrl } from '../../src/wallet/issuer-certificates/revocation-list.ts'
import { unlessDeleted } from '../../src/foundation/storage/transferred.ts'
import {
  CertificateInput,
  ChainInput,
  IssuerCertificate,
} from '../../src/wallet/issuer-certificates/model.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

const CertificatePage = Page('IssuerCertificatePage', IssuerCertificate, 'IssuerCertificatePage')
const path = { id: Uuid }

const crlMedia = 'application/pkix-crl' as const
/** `<id>.crl` */
const crlFile = z
  .string()
  .regex(/^\w{1,100}\.crl$/)
  .transform((file) => file.slice(0, -'.crl'.length))

export default [
  route(
    'POST /issuer-certificates',
    {
      summary: 'Create an issuing key with a certificate signing request',
      operationId: 'requestIssuerCertificate',
      extension: true,
      access: 'tenant',
      scopes: ['issuer'],
      body: CertificateInput,
      reply: [201, IssuerCertificate],
    },
    ({ wallet }, { body }) => requestCertificate(wallet, body),
  ),

  route(
    'POST /issuer-certificates/development',
    {
      summary: 'Create an issuing key with a certificate of the wallet’s development authority',
      operationId: 'createDevelopmentIssuerCertificate',
      extension: true,
      access: 'tenant',
      scopes: ['issuer'],
      body: CertificateInput,
      reply: [201, IssuerCertificate],
    },
    ({ wallet }, { body }) => createDevelopmentCertificate(wallet, body),
  ),

  route(
    'GET /issuer-certificates',
    {
      summary: 'List the issuer certificates',
      operationId: 'listIssuerCertificates',
      extension: true,
      access: 'tenant',
      query: Paging,
      reply: [200, CertificatePage],
    },
    async ({ wallet }, { query, target }) => {
      const { certificates, total } = await listCertificates(wallet.db, query)
      return toPage('IssuerCertificatePage', { ...query, target, total }, certificates)
    },
  ),

  route(
    'GET /issuer-certificates/{id}',
    {
      summary: 'Read an issuer certificate',
      operationId: 'getIssuerCertificate',
      extension: true,
      access: 'tenant',
      path,
      reply: [200, IssuerCertificate],
    },
    ({ wallet }, { path: { id } }) => getCertificate(wallet.db, id),
  ),

  route(
    'PUT /issuer-certificates/{id}/chain',
    {
      summary: 'Import the certificate of an issuing key, with its chain',
      operationId: 'importIssuerCertificateChain',
      extension: true,
      access: 'tenant',
      scopes: ['issuer'],
      path,
      body: ChainInput,
      reply: [200, IssuerCertificate],
    },
    ({ wallet }, { path: { id }, body: { chain } }) => importChain(wallet, id, chain),
  ),

  route(
    'POST /issuer-certificates/{id}/renewal',
    {
      summary: 'Give a development certificate a new key and a new certificate of the same authority',
      operationId: 'renewIssuerCertificate',
      extension: true,
      access: 'tenant',
      scopes: ['issuer'],
      path,
      reply: [200, IssuerCertificate],
    },
    ({ wallet }, { path: { id } }) => renewCertificate(wallet, id),
  ),

  route(
    'POST /issuer-certificates/{id}/revocation',
    {
      summary: 'Revoke a development certificate of ISO mdoc',
      operationId: 'revokeIssuerCertificate',
      extension: true,
      access: 'tenant',
      scopes: ['issuer'],
      path,
      reply: [200, IssuerCertificate],
    },
    ({ wallet }, { path: { id } }) => revokeCertificate(wallet, id),
  ),

  route(
    'GET /issuer-certificates/crl/{file}',
    {
      summary: 'Read the list of revoked certificates of a development authority',
      operationId: 'getIssuerCertificateRevocationList',
      extension: true,
      access: 'public',
      path: { file: crlFile },
      media: [crlMedia],
      reply: [200, z.string().meta({ format: 'binary' })],
    },
    async ({ agent }, { path: { file: id } }) => {
      const walletId = await agent.env.tokens.findWalletId('crl', id)
      if (walletId === undefined) throw listNotFound(id)
      const { body, etag } = await unlessDeleted(
        agent.wallets.use(walletId, (wallet) => publishCrl(wallet, id)),
        () => listNotFound(id),
      )
      return { type: crlMedia, body, headers: { ETag: etag, 'Cache-Control': 'public, max-age=300' } }
    },
  ),

  route(
    'DELETE /issuer-certificates/{id}',
    {
      summary: 'Delete an issuing key with its certificates',
      operationId: 'deleteIssuerCertificate',
      extension: true,
      access: 'tenant',
      scopes: ['issuer'],
      path,
      reply: [200, null],
    },
    ({ wallet }, { path: { id } }) => wallet.transaction((tx) => deleteCertificate(tx, id)),
  ),
] as const
