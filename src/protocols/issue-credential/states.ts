/** The definition of Issue Credential 3.0. */
import { defineMachine, type RoleOf, type StateOf } from '../engine/machine.ts'

// prettier-ignore
export const credentialStates = defineMachine({
  name: 'issue-credential',
  topic: 'credential',
  event: 'IssueCredentialRecordUpdated',
  resource: { route: 'GET /issue-credentials/records/{recordId}', id: 'recordId', state: 'protocolState' },
}, {
  OfferPending:        { words: 'sending the offer' },
  OfferSent:           { words: 'waiting for the holder to accept the offer' },
  OfferReceived:       { words: 'waiting for your answer', next: 'agent credential accept {id}', commands: ['credential accept', 'credential reject'] },
  RequestPending:      { words: 'sending the request to the issuer' },
  RequestSent:         { words: 'waiting for the issuer to issue' },
  RequestReceived:     { words: 'the holder has accepted the offer', next: 'agent credential issue {id}', commands: ['credential issue'] },
  CredentialPending:   { words: 'making the credential' },
  CredentialGenerated: { words: 'sending the credential' },
  CredentialSent:      { words: 'issued', ends: 0, commands: ['credential revoke', 'credential export'] },
  CredentialReceived:  { words: 'in your wallet', next: 'agent proof list', ends: 0, commands: ['credential export'] },
  InvitationGenerated: { words: 'waiting for an answer to the invitation' },
  InvitationExpired:   { words: 'the invitation was answered too late', ends: 5, isExpired: true },
  OfferCreated:        { words: 'waiting for a wallet to redeem the offer' },
  OfferRedeemed:       { words: 'waiting for the wallet to request the credential' },
  OfferExpired:        { words: 'the offer was not redeemed in time', ends: 5, isExpired: true },
  OfferBlocked:        { words: 'the transaction code was wrong too often', ends: 5 },
  ProblemReportPending:  { words: 'declined, refused, or took too long; reporting it to the other side', ends: 5 },
  ProblemReportSent:     { words: 'declined, refused, or took too long', ends: 5 },
  ProblemReportReceived: { words: 'the other side reports a problem', ends: 5 },
}, [
  // role     from                   on                                                             to                     then
  ['Issuer', null,                  'POST /issue-credentials/credential-offers',                   'OfferPending',        'send offer'      ],
  ['Issuer', 'OfferPending',        'sent',                                                        'OfferSent'                              ],
  ['Issuer', 'OfferSent',           'received request',                                            'RequestReceived'                        ],
  ['Issuer', 'RequestReceived',     'POST /issue-credentials/records/{recordId}/issue-credential', 'CredentialPending',   'make credential' ],
  ['Issuer', 'CredentialPending',   'made',                                                        'CredentialGenerated', 'send credential' ],
  ['Issuer', 'CredentialGenerated', 'sent',                                                        'CredentialSent'                         ],

  ['Holder', null,                  'received offer',                                              'OfferReceived'                          ],
  ['Holder', 'OfferReceived',       'POST /issue-credentials/records/{recordId}/accept-offer',     'RequestPending',      'send request'    ],
  ['Holder', 'RequestPending',      'sent',                                                        'RequestSent'                            ],
  ['Holder', 'RequestSent',         'received credential',                                         'CredentialReceived'                     ],
], [
  // Extensions: the Cloud Agent has no such transitions.
  ['Issuer', null,                  'POST /issue-credentials/credential-offers/invitation',        'InvitationGenerated'                    ],
  ['Issuer', 'InvitationGenerated', 'received request',                                            'RequestReceived'                        ],
  ['Issuer', 'InvitationGenerated', 'expired',                                                     'InvitationExpired'                      ],
  ['Holder', 'OfferReceived',       'POST /issue-credentials/records/{recordId}/reject-offer',     'ProblemReportPending', 'send problem-report'],
  ['Holder', 'ProblemReportPending', 'sent',                                                       'ProblemReportSent'                      ],
  ['Issuer', 'InvitationGenerated', 'received problem-report',                                     'ProblemReportReceived'                  ],
  ['Issuer', 'OfferSent',           'received problem-report',                                     'ProblemReportReceived'                  ],
  ['Issuer', 'CredentialSent',      'received problem-report',                                     'ProblemReportReceived'                  ],
  ['Holder', 'RequestSent',         'received problem-report',                                     'ProblemReportReceived'                  ],
  ['Holder', 'RequestSent',         'refused credential',                                          'ProblemReportPending', 'send problem-report'],
  ['Issuer', 'CredentialPending',   'refused request',                                             'ProblemReportPending', 'send problem-report'],
  ['Holder', null,                  'received offer to accept',                                    'OfferReceived',       'make acceptance' ],
  ['Holder', 'OfferReceived',       'made',                                                        'RequestPending',      'send request'    ],
  ['Holder', 'OfferReceived',       'received problem-report',                                     'ProblemReportReceived'                  ],
  ['Issuer', 'RequestReceived',     'received problem-report',                                     'ProblemReportReceived'                  ],
  ['Issuer', 'OfferPending',        'flow expired',                                                'ProblemReportPending', 'send problem-report'],
  ['Issuer', 'OfferSent',           'flow expired',                                                'ProblemReportPending', 'send problem-report'],
  ['Issuer', 'RequestReceived',     'flow expired',                                                'ProblemReportPending', 'send problem-report'],
  ['Issuer', 'CredentialPending',   'flow expired',                                                'ProblemReportPending', 'send problem-report'],
  ['Issuer', 'CredentialGenerated', 'flow expired',                                                'ProblemReportPending', 'send problem-report'],
  ['Holder', 'OfferReceived',       'flow expired',                                                'ProblemReportPending', 'send problem-report'],
  ['Holder', 'RequestPending',      'flow expired',                                                'ProblemReportPending', 'send problem-report'],
  ['Holder', 'RequestSent',         'flow expired',                                                'ProblemReportPending', 'send problem-report'],
  ['Issuer', 'ProblemReportPending', 'sent',                                                       'ProblemReportSent'                      ],
  // OpenID4VCI. There is no other side that a problem could be reported to.
  ['Issuer', null,                  'POST /oid4vci/issuers/{issuerId}/credential-offers',          'OfferCreated'                           ],
  ['Issuer', 'OfferCreated',        'received token request',                                      'OfferRedeemed'                          ],
  ['Issuer', 'OfferRedeemed',       'received credential request',                                 'CredentialSent'                         ],
  ['Issuer', 'OfferCreated',        'refused tx_code',                                             'OfferBlocked'                           ],
  ['Issuer', 'OfferCreated',        'expired',                                                     'OfferExpired'                           ],
  ['Issuer', 'OfferRedeemed',       'expired',                                                     'OfferExpired'                           ],
])

export type CredentialState = StateOf<typeof credentialStates>
export type CredentialRole = RoleOf<typeof credentialStates>
