/** `/issuer-certificates`: P-256 keys of an issuer, with their X.509 certificates (extension). */
import {
  deleteCertificate,
  getCertificate,
  importChain,
  listCertificates,
  requestCertificate,
} from '../../src/wallet/issuer-certificates/certificates.ts'
import { createDevelopmentCertificate } from '../../src/wallet/issuer-certificates/development.ts'
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
