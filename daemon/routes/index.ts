/** All routes of the HTTP API. */
import api from './api.ts'
import audit from './audit.ts'
import connectionInvitations from './connection-invitations.ts'
import connections from './connections.ts'
import credentialDefinitionRegistry from './credential-definition-registry.ts'
import credentialTypes from './credential-types.ts'
import credentialStatus from './credential-status.ts'
import didAuthentication from './did-authentication.ts'
import onboard from './onboard.ts'
import didRegistrar from './did-registrar.ts'
import didcomm from './didcomm.ts'
import dids from './dids.ts'
import docs from './docs.ts'
import events from './events.ts'
import home from './home.ts'
import i from './i.ts'
import iam from './iam.ts'
import invitation from './invitation.ts'
import issueCredentialsOpenId4Vci from './issue-credentials-openid4vci.ts'
import issueCredentials from './issue-credentials.ts'
import issuerCertificates from './issuer-certificates.ts'
import messages from './messages.ts'
import oid4vci from './oid4vci.ts'
import oid4vciAuthorization from './oid4vci-authorization.ts'
import oid4vciDelivery from './oid4vci-delivery.ts'
import oid4vciMetadata from './oid4vci-metadata.ts'
import oid4vciWallets from './oid4vci-wallets.ts'
import oid4vp from './oid4vp.ts'
import presentProof from './present-proof.ts'
import presentationExchange from './presentation-exchange.ts'
import schemaRegistry from './schema-registry.ts'
import system from './system.ts'
import traces from './traces.ts'
import trustAnchors from './trust-anchors.ts'
import vdr from './vdr.ts'
import verification from './verification.ts'
import wallets from './wallets.ts'
import web from './web.ts'
import webhooks from './webhooks.ts'
import wellKnown from './well-known.ts'

export const routes = [
  ...wallets,
  ...iam,
  ...didRegistrar,
  ...dids,
  ...web,
  ...connections,
  ...connectionInvitations,
  ...invitation,
  ...i,
  ...issueCredentials,
  ...issueCredentialsOpenId4Vci,
  ...issuerCertificates,
  ...credentialStatus,
  ...credentialTypes,
  ...oid4vci,
  ...oid4vciAuthorization,
  ...oid4vciDelivery,
  ...oid4vciMetadata,
  ...oid4vciWallets,
  ...oid4vp,
  ...presentProof,
  ...messages,
  ...didcomm,
  ...schemaRegistry,
  ...credentialDefinitionRegistry,
  ...vdr,
  ...verification,
  ...trustAnchors,
  ...presentationExchange,
  ...onboard,
  ...didAuthentication,
  ...wellKnown,
  ...webhooks,
  ...events,
  ...traces,
  ...api,
  ...audit,
  ...system,
  ...docs,
  ...home,
] as const
export type Routes = typeof routes
