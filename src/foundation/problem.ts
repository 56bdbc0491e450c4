/**
 * The table of all error responses.
 *
 * `daemon/middleware/problem.ts` renders a thrown `Problem`: types with `error:` and single words as the
 * Cloud Agent API does (RFC 9457), types with `/errors/` as the enterprise suite does. Any other error is a
 * bug: the response is `InternalServerError`, and only the log has its message.
 */

// prettier-ignore
const statuses = {
  // any endpoint
  'BadRequest':                                                    400,
  'NotFound':                                                      404,
  'Not Allowed':                                                   403,
  'TypeMetadataInUse':                                              409,
  'Conflict':                                                      409,
  'TooManyRequests':                                               429,
  'UnprocessableEntity':                                           422,
  'error:RequestBodyDecodingFailure':                              400,
  'error:UnsupportedMediaType':                                    415,
  'error:RequestBodyTooLarge':                                     413,
  'error:RequestTimeout':                                          408,
  'error:RequestHeaderFieldsTooLarge':                             431,
  'error:ResourcePathNotFound':                                    404,
  'error:InternalServerError':                                     500,
  'error:LocalAccessOnly':                                         403,
  'error:ServiceUnavailable':                                      503,
  'error:InsufficientStorage':                                     507,

  // authentication
  'error:AuthenticationError:InvalidCredentials':                  401,
  'error:AuthenticationError:ApiKeyAuthenticationError':           401,
  'error:AuthenticationError:JwtAuthenticationError':              401,
  'error:AuthenticationError:AdminApiKeyAuthenticationError':      401,
  'error:AuthenticationError:InvalidRole':                         403,
  'error:AuthenticationError:InsufficientScope':                   403,
  'error:AuthenticationError:ResourceNotPermitted':                403,
  'error:AuthenticationRepositoryError:AuthenticationCompromised': 401,

  // the master key
  'error:MasterKeyError:NewKeyRequired':                           422,
  'error:MasterKeyError:KeyringUnavailable':                       503,

  // backups
  'error:BackupError:FolderNotUsable':                             422,
  'error:BackupError:MasterKeyNotUsable':                          422,
  'error:BackupError:BackupUnderWay':                              409,
  'error:BackupError:FileUnreadable':                              503,

  // wallets and entities
  'error:WalletManagementServiceError:DuplicatedWalletId':         422,
  'error:WalletManagementServiceError:DuplicatedWalletSeed':       422,
  'error:WalletManagementServiceError:TooManyPermittedWallet':     400,
  'error:WalletManagementServiceError:TooManyWebhookError':        422,
  'error:WalletManagementServiceError:TooManyRecords':             507,
  'error:WalletManagementServiceError:TooManyBytes':               507,
  'error:WalletManagementServiceError:WalletNotFound':             404,
  'error:WalletManagementServiceError:WalletUnreadable':           503,
  'error:WalletManagementServiceError:WalletMoved':                503,
  'error:WalletPortabilityError:NotAnExport':                      422,
  'error:WalletPortabilityError:NewerExport':                      422,
  'error:WalletPortabilityError:WrongPassphrase':                  422,
  'error:WalletPortabilityError:DamagedExport':                    422,
  'error:WalletPortabilityError:BelongsToAnother':                 409,
  'error:EntityServiceError:EntityNotFound':                       404,
  'error:EntityServiceError:EntityAlreadyExists':                  422,
  'error:EntityServiceError:WalletNotFound':                       404,

  'error:PermissionManagementServiceError:WalletNotFoundById':     400,
  'error:PermissionManagementServiceError:PermissionNotFoundById': 400,

  // DIDs
  'error:DIDResolution:invalidDid':                                400,
  'error:DIDResolution:notFound':                                  404,
  'error:DIDResolution:representationNotSupported':                406,
  'error:DIDResolution:deactivated':                               410,
  'error:DIDResolution:methodNotSupported':                        501,

  // connections
  'error:ConnectionServiceError:RecordIdNotFound':                 404,
  'error:ConnectionServiceError:ThreadIdNotFound':                 404,
  'error:ConnectionServiceError:InvalidStateForOperation':         400,
  'error:ConnectionServiceError:InvitationParsingError':           400,
  'error:ConnectionServiceError:InvitationAlreadyReceived':        400,
  'error:ConnectionServiceError:InvitationExpired':                400,

  // short URLs of invitations
  'error:ShortLinkError:LinkNotFound':                             404,
  'error:ShortLinkError:LinkClosed':                               410,
  'error:ShortLinkError:RetrievalFailed':                          422,

  // credentials
  'error:CredentialServiceError:RecordNotFound':                   404,
  'error:CredentialServiceError:ThreadIdNotFound':                 404,
  'error:CredentialServiceError:InvalidStateForOperation':         400,
  'error:CredentialServiceError:UnsupportedDidFormat':             422,
  'error:CredentialServiceError:DIDNotFoundInWallet':              404,
  'error:CredentialServiceError:KeyNotFoundInDID':                 400,
  'error:CredentialServiceError:MultipleKeysWithSamePurposeFoundInDID': 400,
  'error:CredentialServiceError:InvalidCredentialRequest':         400,
  'error:CredentialServiceError:InvalidCredentialOffer':           400,
  'error:CredentialServiceError:InvalidCredentialIssue':           400,
  'error:CredentialServiceError:CredentialDefinitionPrivatePartNotFound': 404,
  'error:CredentialServiceError:InvitationParsingError':           400,
  'error:CredentialServiceError:InvitationAlreadyReceived':        400,
  'error:CredentialServiceError:InvitationExpired':                400,

  // credential status
  'error:CredentialStatusListError:StatusListNotFound':            404,
  'error:CredentialStatusListError:StatusListNotFoundForIssueCredentialRecord': 404,
  'error:CredentialStatusListError:InvalidRoleForOperation':       422,

  // presentations
  'error:PresentationError:RecordIdNotFound':                      404,
  'error:PresentationError:ThreadIdNotFound':                      404,
  'error:PresentationError:InvalidFlowStateError':                 400,
  'error:PresentationError:IssuedCredentialNotFoundError':         404,
  'error:PresentationError:HolderBindingError':                    400,
  'error:PresentationError:NotMatchingPresentationCredentialFormat': 400,
  'error:PresentationError:InvalidPresentationRequest':            400,
  'error:PresentationError:InvalidPresentation':                   400,
  'error:PresentationError:InvitationParsingError':                400,
  'error:PresentationError:InvitationAlreadyReceived':             400,
  'error:PresentationError:InvitationExpired':                     400,

  // schemas
  'error:CredentialSchemaError:CredentialSchemaGuidNotFoundError': 404,
  'error:CredentialSchemaError:CredentialSchemaIdNotFoundError':   404,
  'error:CredentialSchemaError:CredentialSchemaUpdateError':       400,
  'error:CredentialSchemaError:InvalidSchema':                     400,
  'error:CredentialSchemaError:UnsupportedCredentialSchemaType':   400,
  'error:CredentialSchemaError:CredentialSchemaValidationError':   422,
  'error:CredentialSchemaError:SchemaDereferencingError':          422,

  // credential definitions
  'error:CredentialDefinitionError:GuidNotFoundError':             404,
  'error:CredentialDefinitionError:CreationError':                 400,
  'error:CredentialDefinitionError:NotGeneratedYet':               503,
  'error:CredentialDefinitionError:DereferencingError':            422,

  // OpenID4VCI issuers
  'error:OID4VCIIssuerMetadataServiceError:IssuerIdNotFound':      404,
  'error:OID4VCIIssuerMetadataServiceError:DuplicateIssuerId':     409,
  'error:OID4VCIIssuerMetadataServiceError:CredentialConfigurationNotFound': 404,
  'error:OID4VCIIssuerMetadataServiceError:DuplicateCredentialConfigId': 409,
  'error:OID4VCIIssuerMetadataServiceError:InvalidSchemaId':       400,

  // OpenID4VCI issuers of others
  'error:OID4VCIHolderError:InvalidIssuerMetadata':                422,
  'error:OID4VCIHolderError:IssuerRefused':                        422,

  // VDR entries
  'error:VdrServiceError:DriverNotFound':                          400,
  'error:VdrServiceError:MissingVdrKey':                           400,
  'error:VdrServiceError:DeactivatedDid':                          400,
  'error:VdrServiceError:VdrEntryNotFound':                        404,
  'error:VdrServiceError:TooManyEntries':                          507,

  // DIDComm endpoint
  'error:DIDCommControllerError:InvalidContentType':               400,
  'error:DIDCommControllerError:RequestBodyParsingError':          400,
  'error:DIDCommControllerError:MessageExpired':                   400,
  'error:DIDCommControllerError:RecipientNotFound':                422,
  'error:DIDCommControllerError:UnpackingFailed':                  422,
  'error:DIDCommControllerError:UnsupportedMessageType':           422,
  'error:DIDCommControllerError:SenderNotAllowed':                 422,

  // enterprise suite
  '/errors/common/bad-request':                                    400,
  '/errors/common/unauthorized':                                   401,
  '/errors/common/forbidden':                                      403,
  '/errors/common/not-found':                                      404,
  '/errors/common/body-too-large':                                 413,
  '/errors/common/unsupported-media-type':                         415,
  '/errors/common/too-many-requests':                              429,
  '/errors/common/internal':                                       500,
  '/errors/common/unreachable':                                    502,
  '/errors/common/unavailable':                                    503,
  '/errors/common/insufficient-storage':                           507,
  '/errors/onboard/did-request-not-found':                         404,
  '/errors/onboard/did-request-expired':                           410,
  '/errors/onboard/invalid-did':                                   400,
  '/errors/onboard/did-not-in-wallet':                             404,
  '/errors/onboard/submission-refused':                            422,
  '/errors/authenticate/challenge-not-found':                      404,
  '/errors/authenticate/challenge-expired':                        410,
  '/errors/authenticate/invalid-challenge-response':               400,
  '/errors/authenticate/challenge-not-successful':                 400,
  '/errors/authenticate/token-expired':                            410,
  '/errors/authenticate/foreign-challenge':                        400,
  '/errors/authenticate/did-not-in-wallet':                        404,
  '/errors/authenticate/submission-refused':                       422,

  // mediator role
  'error:MediatorError:MalformedMessage':                          422,
  'error:MediatorError:NotEnrolled':                               422,
  'error:MediatorError:LiveModeNotSupported':                      422,
  'error:MediatorError:MessageReplayed':                           409,
  'error:MediatorError:TooManyRequests':                           429,
  'error:MediatorError:QueueFull':                                 507,
} as const satisfies Record<string, number>

export type ProblemType = keyof typeof statuses

export const problems: Readonly<Record<ProblemType, number>> = statuses

export class Problem extends Error {
  override name = 'Problem'
  readonly type: ProblemType
  readonly status: number
  /** By default the last part of the type, split at its capitals. */
  readonly title: string
  /** The `Retry-After` header (RFC 9110 §10.2.3): seconds until the request may be repeated. */
  readonly retryAfter: number | undefined

  /**
   * `detail` is public: it names the field, the reason and the way out, and contains no secrets. `title`
   * replaces the default.
   */
  constructor(
    type: ProblemType,
    detail: string,
    options?: ErrorOptions & { title?: string; retryAfter?: number },
  ) {
    super(detail, options)
    this.type = type
    this.status = statuses[type]
    this.title = options?.title ?? toTitle(type)
    this.retryAfter = options?.retryAfter
  }
}

/** Problems that end when there is room again. The mediator answers a full queue itself. */
const noRoom: readonly ProblemType[] = [
  'error:InsufficientStorage',
  'error:WalletManagementServiceError:TooManyRecords',
  'error:WalletManagementServiceError:TooManyBytes',
]

/** True for a temporary problem: the request should be repeated. */
export function isTemporary(error: unknown): error is Problem & { readonly status: 503 | 507 } {
  return error instanceof Problem && (error.status === 503 || noRoom.includes(error.type))
}

function toTitle(type: string): string {
  const words = type.split(/[:/]/).at(-1)!
  if (type.startsWith('/'))
    return (words[0]!.toUpperCase() + words.slice(1)).replaceAll('-', ' ').replace(/\bdid\b/i, 'DID')
  if (!type.includes(':')) return words
  const spaced = words.replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  return spaced[0]!.toUpperCase() + spaced.slice(1)
}
