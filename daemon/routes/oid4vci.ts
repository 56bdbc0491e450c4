/** `/oid4vci`: OpenID4VCI issuers and the credentials that they offer, for the tenant. */
import * as z from 'zod'
import {
  CreateCredentialConfiguration,
  CredentialConfiguration,
  PatchCredentialConfiguration,
} from '../../src/exchange/oid4vci/configuration-members.ts'
import { createConfiguration, updateConfiguration } from '../../src/exchange/oid4vci/configuration-changes.ts'
import {
  deleteConfiguration,
  getConfiguration,
  listConfigurations,
  toConfiguration,
} from '../../src/exchange/oid4vci/configurations.ts'
import {
  CreateCredentialIssuer,
  createIssuer,
  CredentialIssuer,
  deleteIssuer,
  listIssuers,
  PatchCredentialIssuer,
  updateIssuer,
} from '../../src/exchange/oid4vci/issuers.ts'
import { renewClaimsSecret } from '../../src/exchange/oid4vci/claims-secret.ts'
import { IdempotencyHeader } from '../../src/exchange/engine/idempotency.ts'
import { completeIssuer } from '../../src/exchange/oid4vci/look.ts'
import { addPicture, IssuerPicture, maxUploadBytes } from '../../src/exchange/oid4vci/media.ts'
import { OpenIdCredentialOffer } from '../../src/exchange/oid4vci/offer-object.ts'
import { CreateOpenIdCredentialOffer } from '../../src/exchange/oid4vci/offer-members.ts'
import { createOffer } from '../../src/exchange/oid4vci/offers.ts'
import {
  OfferInOneStep,
  offerInOneStep,
  OfferedInOneStep,
} from '../../src/exchange/oid4vci/one-step-offer.ts'
import { RenewedSecret } from '../../src/wallet/events/signature.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { Page, Paging, toPage } from '../http/paging.ts'
import { route } from '../http/route.ts'

const IssuerPage = Page('CredentialIssuerPage', CredentialIssuer, 'CredentialIssuerPage')
const ConfigurationPage = Page(
  'CredentialConfigurationPage',
  CredentialConfiguration,
  'CredentialConfigurationPage',
)
const path = { issuerId: Uuid }
const configurationPath = { ...path, credentialConfigId: z.string() }

export default [
  route(
    'POST /oid4vci/issuers',
    {
      summary: 'Create an OpenID4VCI issuer',
      operationId: 'createCredentialIssuer',
      access: 'tenant',
      scopes: ['issuer'],
      body: CreateCredentialIssuer,
      sharesFile: true,
      reply: [201, CredentialIssuer],
    },
    async ({ wallet, agent: { db } }, { body }) =>
      createIssuer({ db, wallet }, await completeIssuer({ db, wallet }, body.id, body)),
  ),

  route(
    'GET /oid4vci/issuers',
    {
      summary: 'List the OpenID4VCI issuers of the wallet',
      operationId: 'getCredentialIssuers',
      access: 'tenant',
      query: Paging,
      reply: [200, IssuerPage],
    },
    async ({ wallet, agent }, { query, target }) => {
      const { issuers, total } = await listIssuers(agent.db, wallet, query)
      return toPage('CredentialIssuerPage', { ...query, target, total }, issuers)
    },
  ),

  route(
    'PATCH /oid4vci/issuers/{issuerId}',
    {
      summary: 'Change the settings of an OpenID4VCI issuer',
      operationId: 'updateCredentialIssuer',
      access: 'tenant',
      scopes: ['issuer'],
      path,
      body: PatchCredentialIssuer,
      sharesFile: true,
      reply: [200, CredentialIssuer],
    },
    async ({ wallet, agent: { db } }, { path: { issuerId }, body }) =>
      updateIssuer({ db, wallet }, issuerId, await completeIssuer({ db, wallet }, issuerId, body)),
  ),

  route(
    'DELETE /oid4vci/issuers/{issuerId}',
    {
      summary: 'Delete an OpenID4VCI issuer with its configurations',
      operationId: 'deleteCredentialIssuer',
      access: 'tenant',
      scopes: ['issuer'],
      path,
      reply: [200, null],
    },
    ({ wallet, agent }, { path: { issuerId } }) => deleteIssuer(agent.db, wallet.id, issuerId),
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/secret',
    {
      summary: 'Create a new secret that signs the requests to claims sources of an issuer',
      operationId: 'createIssuerSecret',
      extension: true,
      access: 'tenant',
      scopes: ['issuer'],
      path,
      reply: [200, RenewedSecret],
    },
    ({ wallet, agent: { db, config } }, { path: { issuerId } }) => {
      const until = new Date(Date.now() + config.WEBHOOK_SECRET_OVERLAP * 1_000)
      return renewClaimsSecret({ db, wallet }, issuerId, until)
    },
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/credential-configurations',
    {
      summary: 'Add a credential to those that an issuer offers',
      operationId: 'createCredentialConfiguration',
      access: 'tenant',
      scopes: ['issuer'],
      path,
      body: CreateCredentialConfiguration,
      sharesFile: true,
      reply: [201, CredentialConfiguration],
    },
    ({ wallet, agent: { db } }, { path: { issuerId }, body }) =>
      createConfiguration({ db, wallet }, issuerId, body),
  ),

  route(
    'GET /oid4vci/issuers/{issuerId}/credential-configurations',
    {
      summary: 'List the credentials that an issuer offers',
      operationId: 'getCredentialConfigurations',
      extension: true,
      access: 'tenant',
      path,
      query: Paging,
      reply: [200, ConfigurationPage],
    },
    async ({ wallet, agent }, { path: { issuerId }, query, target }) => {
      const { configurations, total } = await listConfigurations(agent.db, wallet.id, issuerId, query)
      return toPage('CredentialConfigurationPage', { ...query, target, total }, configurations)
    },
  ),

  route(
    'GET /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}',
    {
      summary: 'Read the configuration of a credential',
      operationId: 'getCredentialConfiguration',
      access: 'tenant',
      path: configurationPath,
      reply: [200, CredentialConfiguration],
    },
    async ({ wallet, agent }, { path: { issuerId, credentialConfigId } }) =>
      toConfiguration(await getConfiguration(agent.db, wallet.id, issuerId, credentialConfigId)),
  ),

  route(
    'PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}',
    {
      summary: 'Change the configuration of a credential',
      operationId: 'updateCredentialConfiguration',
      extension: true,
      access: 'tenant',
      scopes: ['issuer'],
      path: configurationPath,
      body: PatchCredentialConfiguration,
      sharesFile: true,
      reply: [200, CredentialConfiguration],
    },
    ({ wallet, agent: { db } }, { path: { issuerId, credentialConfigId }, body }) =>
      updateConfiguration({ db, wallet }, issuerId, credentialConfigId, body),
  ),

  route(
    'DELETE /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}',
    {
      summary: 'Remove a credential from those that an issuer offers',
      operationId: 'deleteCredentialConfiguration',
      access: 'tenant',
      scopes: ['issuer'],
      path: configurationPath,
      reply: [200, null],
    },
    ({ wallet, agent }, { path: { issuerId, credentialConfigId } }) =>
      deleteConfiguration(agent.db, wallet.id, issuerId, credentialConfigId),
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/media',
    {
      summary: 'Add a picture that an issuer shows: PNG, JPEG, WebP or SVG',
      operationId: 'addCredentialIssuerMedia',
      extension: true,
      access: 'tenant',
      scopes: ['issuer'],
      path,
      stream: { media: 'application/octet-stream', limit: () => maxUploadBytes },
      reply: [201, IssuerPicture],
    },
    ({ wallet, agent: { db } }, { path: { issuerId }, stream }) =>
      addPicture({ db, wallet }, issuerId, stream),
  ),

  route(
    'POST /oid4vci/credential-offers',
    {
      summary: 'Offer a credential to a wallet, and make what is missing for it',
      operationId: 'offerInOneStep',
      extension: true,
      access: 'tenant',
      scopes: ['issuer'],
      headers: IdempotencyHeader,
      body: OfferInOneStep,
      reply: [201, OfferedInOneStep],
    },
    ({ wallet, agent: { db } }, { headers, body }) =>
      offerInOneStep({ db, wallet }, body, headers['idempotency-key']),
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/credential-offers',
    {
      summary: 'Offer a credential to a wallet',
      operationId: 'oid4vciCreateCredentialOffer',
      access: 'tenant',
      scopes: ['issuer'],
      path,
      headers: IdempotencyHeader,
      body: CreateOpenIdCredentialOffer,
      reply: [201, OpenIdCredentialOffer],
    },
    ({ wallet, agent: { db } }, { path: { issuerId }, headers, body }) =>
      createOffer({ db, wallet }, issuerId, body, headers['idempotency-key']),
  ),
] as const
