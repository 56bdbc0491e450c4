/**
 * Explanations of API problems of connections, short URLs, credentials, presentations, schemas and DIDComm
 * messages.
 */
import type { Texts } from './agent-problems.ts'

const wrongState: Texts = [
  'The state of the record does not allow this.',
  'The flow has advanced or ended, or waits for the other side. Another user or an automatic rule may have answered it.',
  'Show the record. It explains its state and the next command.',
]
const badInvitation: Texts = [
  'The invitation cannot be read.',
  'The link is truncated or changed, has no _oob parameter, or is an invitation of another kind.',
  'Copy all of it, in quotes, or pipe it in with `-`. Otherwise ask for a new one.',
]
const usedInvitation: Texts = [
  'This wallet has accepted the invitation already.',
  'An invitation can be accepted once.',
  'Use the record that it created, or ask for a new invitation.',
]
const oldInvitation: Texts = [
  'The invitation has expired.',
  'The inviter set a time limit, which has passed.',
  'Ask for a new one.',
]
const noRecord: Texts = [
  'The record does not exist.',
  'The id is mistyped, belongs to another tenant, or the record was removed.',
  'List the records, and check the profile in use: `agent profile list`.',
]
const noThread: Texts = [
  'There is no record of this thread.',
  'The thread is unknown in this wallet, or belongs to another sender.',
  'List the records: each has its thread. If the other side sent the message, the record was removed here.',
]

// prettier-ignore
export const protocolProblems = {
  'error:ConnectionServiceError:RecordIdNotFound': noRecord,
  'error:ConnectionServiceError:ThreadIdNotFound': noThread,
  'error:ConnectionServiceError:InvalidStateForOperation': wrongState,
  'error:ConnectionServiceError:InvitationParsingError': badInvitation,
  'error:ConnectionServiceError:InvitationAlreadyReceived': usedInvitation,
  'error:ConnectionServiceError:InvitationExpired': oldInvitation,

  'error:ShortLinkError:LinkNotFound': ['The agent did not make the short URL.',
    'A part of it is missing or mistyped, or its tenant was deleted.', 'Copy the whole URL, or ask for a new invitation.'],
  'error:ShortLinkError:LinkClosed': ['The invitation of the short URL can no longer be answered.',
    'It was used or withdrawn, or it has expired.', 'Ask for a new invitation.'],
  'error:ShortLinkError:RetrievalFailed': ['The invitation of the short URL could not be retrieved.',
    'Its host does not answer, answers with something else, or may not be called. The detail has the reason.',
    'Ask for a new invitation, or for its long URL.'],

  'error:CredentialServiceError:RecordNotFound': noRecord,
  'error:CredentialServiceError:ThreadIdNotFound': noThread,
  'error:CredentialServiceError:InvalidStateForOperation': wrongState,
  'error:CredentialServiceError:UnsupportedDidFormat': ['The DID cannot be used for this.',
    'Its method cannot sign credentials here, or this form of it does not belong to this wallet.',
    'Use a DID of this wallet: `agent did list`.'],
  'error:CredentialServiceError:DIDNotFoundInWallet': ['The DID does not belong to this wallet.',
    'Only the wallet with the keys of a DID can sign with it.', '`agent did list` lists the DIDs of this wallet; `agent did create` creates one.'],
  'error:CredentialServiceError:KeyNotFoundInDID': ['The DID has no suitable key.',
    'An issuer signs with an assertionMethod key, a holder with an authentication key. Or the DID has no key with the given id.',
    '`agent did show <did>` lists its keys. `agent did update` adds one.'],
  'error:CredentialServiceError:MultipleKeysWithSamePurposeFoundInDID': ['The DID has several keys that could sign.',
    'The key is ambiguous.', 'Name one with --key-id or `issuingKid`.'],
  'error:CredentialServiceError:InvalidCredentialRequest': ['The holder’s request is not valid.',
    'Its proof is not signed by a key of the subject DID, or has another challenge than the offer. AnonCreds: the definition differs, or the link secret proof fails.',
    'Offer the credential again. The holder’s agent must sign a new request.'],
  'error:CredentialServiceError:InvalidCredentialOffer': ['The offer is not valid.',
    'It has no attachment in a supported format, or its claims do not fit the format.',
    'The detail names the reason. The issuer must send a new offer.'],
  'error:CredentialServiceError:InvalidCredentialIssue': ['The received credential is not accepted.',
    'It differs from the offer, is not signed by the issuer, or its status list is not available. AnonCreds: the definition or the link secret differs.',
    'Do not trust it. Ask the issuer. The record has the reason.'],
  'error:CredentialServiceError:CredentialDefinitionPrivatePartNotFound': ['The private key of the credential definition is missing.',
    'The wallet’s file is a copy from before the definition was created.', 'Create another definition with `agent creddef create`, and offer with it.'],
  'error:CredentialServiceError:InvitationParsingError': badInvitation,
  'error:CredentialServiceError:InvitationAlreadyReceived': usedInvitation,
  'error:CredentialServiceError:InvitationExpired': oldInvitation,

  'error:CredentialStatusListError:StatusListNotFound': ['The status list does not exist here.',
    'The id is mistyped, or the list belongs to another agent.', 'Take the URL from the credential’s credentialStatus.'],
  'error:CredentialStatusListError:StatusListNotFoundForIssueCredentialRecord': ['The record has no entry in a status list.',
    'No credential was issued, or the credential cannot be revoked.', '`agent credential show <id>` shows its state.'],
  'error:CredentialStatusListError:InvalidRoleForOperation': ['Only the issuer can revoke.',
    'The record belongs to the holder.', 'Ask the issuer; a holder can remove the record: `agent credential remove <id>`.'],

  'error:PresentationError:RecordIdNotFound': noRecord,
  'error:PresentationError:ThreadIdNotFound': noThread,
  'error:PresentationError:InvalidFlowStateError': wrongState,
  'error:PresentationError:IssuedCredentialNotFoundError': ['The credential is not in this wallet.',
    'The id does not belong to a received credential.', '`agent proof show <id>` lists the credentials that match the request.'],
  'error:PresentationError:HolderBindingError': ['The credential cannot be presented by this wallet.',
    'Its subject or its key does not belong to this wallet.', 'Present another: `agent proof show <id>` lists those that match the request.'],
  'error:PresentationError:NotMatchingPresentationCredentialFormat': ['The format of the credential differs from the request.',
    'A request is for JWT or for SD-JWT.', '`agent proof show <id>` lists the credentials that match it.'],
  'error:PresentationError:InvalidPresentationRequest': ['The request is not valid.',
    'It requests nothing that is supported here, or contradicts itself.', 'The verifier must send a new request.'],
  'error:PresentationError:InvalidPresentation': ['The presentation is not valid.',
    'It is not a presentation, or its format differs from the request.', 'Do not trust it. Request the proof again.'],
  'error:PresentationError:InvitationParsingError': badInvitation,
  'error:PresentationError:InvitationAlreadyReceived': usedInvitation,
  'error:PresentationError:InvitationExpired': oldInvitation,

  'error:CredentialSchemaError:CredentialSchemaGuidNotFoundError': ['No schema has this guid.',
    'It is mistyped, or belongs to another agent.', '`agent schema list` lists schemas.'],
  'error:CredentialSchemaError:CredentialSchemaIdNotFoundError': ['No schema has this id.',
    'It is mistyped, or belongs to another author.', '`agent schema list` lists schemas.'],
  'error:CredentialSchemaError:CredentialSchemaUpdateError': ['The schema cannot be updated this way.',
    'The version must be higher than the last one, and the author must be the same.', 'Use a higher version: `agent schema publish --version`.'],
  'error:CredentialSchemaError:InvalidSchema': ['The schema is not valid.',
    'It is not a JSON Schema of draft 2020-12, or uses keywords that cannot be evaluated safely. The detail names the place.',
    '`agent schema validate` checks one without publishing it.'],
  'error:CredentialSchemaError:UnsupportedCredentialSchemaType': ['The schema type is not supported.',
    '`agent schema publish --help` lists the types.', 'Publish it as one of those.'],
  'error:CredentialSchemaError:CredentialSchemaValidationError': ['The claims do not fit the schema.',
    'A claim is missing or has another type. The detail names it.',
    'Correct the claim. A number is --claim age:=42, a text --claim age=42.'],
  'error:CredentialSchemaError:SchemaDereferencingError': ['The schema is not available.',
    'Its URL does not serve a schema, or the host does not answer.', 'Open the URL. Publish the schema where the holder can read it.'],

  'error:CredentialDefinitionError:GuidNotFoundError': ['No credential definition has this guid.',
    'It is mistyped, belongs to another agent, or is in the separate list of definitions with DID URLs.', '`agent creddef list` lists definitions.'],
  'error:CredentialDefinitionError:CreationError': ['The credential definition cannot be created.',
    'Its schema is not an AnonCreds schema. The detail has the found type.', 'Publish one with `agent schema publish --anoncreds`, and use its URL, which ends with /schema.'],
  'error:CredentialDefinitionError:NotGeneratedYet': ['The key of the credential definition is being generated.',
    'That takes several seconds, one definition at a time.', 'Try again in a few seconds. `agent creddef show` shows when it is READY.'],
  'error:CredentialDefinitionError:DereferencingError': ['The credential definition is not available.',
    'Its URL does not serve a valid definition, or the host does not answer.', 'Open the URL. Ask the issuer to publish the definition publicly.'],

  'error:DIDCommControllerError:InvalidContentType': ['The DIDComm endpoint accepts encrypted messages only.',
    'The Content-Type is not application/didcomm-encrypted+json.', 'Send the message packed, with that header. The HTTP API is on the other port.'],
  'error:DIDCommControllerError:RequestBodyParsingError': ['The message is not a DIDComm message.',
    'The body is not the JSON of a JWE.', 'Pack the message for a DID of this agent.'],
  'error:DIDCommControllerError:MessageExpired': ['The message arrived after its `expires_time`.',
    'It was delayed, or the clock of the sender or of this machine is wrong.', 'The sender must send it again. Compare both clocks.'],
  'error:DIDCommControllerError:RecipientNotFound': ['The recipient DID does not belong to this agent.',
    'The wallet or the connection was removed, or the message was sent to the wrong agent.', 'Create a new connection.'],
  'error:DIDCommControllerError:UnpackingFailed': ['The message cannot be decrypted or is inconsistent.',
    'It was changed in transit, encrypted for other keys, or its headers do not match its envelope.',
    '`agent didcomm unpack` shows the reason. The sender must send it again.'],
  'error:DIDCommControllerError:UnsupportedMessageType': ['The message type is not supported.',
    'The sender uses a protocol or a version that this agent does not support.', 'Use a protocol that both agents support. `agent didcomm ping` tests the connection.'],
  'error:DIDCommControllerError:SenderNotAllowed': ['The sender is not allowed to send this message.',
    'The thread or the connection belongs to another sender.', 'The sender must use the DID of the connection.'],
} as const satisfies Record<string, Texts>
