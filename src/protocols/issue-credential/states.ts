/** Credential record (service §3.2). DIDComm messages: `offer`, `request`, `credential`, and `problem-report` when the offer is declined, the credential is not the one that was offered, or the flow expires. */
import { machine, type RoleOf, type StateOf } from '../engine/machine.ts'

// prettier-ignore
export const credentialStates = machine('IssueCredentialRecordUpdated', [
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
  // ours: what the service document leaves open (api.md 5.2)
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
])

export type CredentialState = StateOf<typeof credentialStates>
export type CredentialRole = RoleOf<typeof credentialStates>
