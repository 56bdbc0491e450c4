/**
 * The definition of Connections 1.0 (`https://atalaprism.io/mercury/connections/1.0`), which other protocols
 * build on.
 */
import { defineMachine, type StateOf } from './machine.ts'

// prettier-ignore
export const connectionStates = defineMachine({
  name: 'connection',
  topic: 'connection',
  event: 'ConnectionUpdated',
  resource: { route: 'GET /connections/{connectionId}', id: 'connectionId', state: 'state' },
}, {
  InvitationGenerated:        { words: 'waiting for an answer to the invitation', renew: 'agent connection invite', commands: ['connection remove'] },
  ConnectionRequestReceived:  { words: 'the other side has accepted the invitation' },
  ConnectionResponsePending:  { words: 'sending the answer to the other side' },
  ConnectionResponseSent:     { words: 'connected', ends: 0 },
  InvitationReceived:         { words: 'invitation read' },
  ConnectionRequestPending:   { words: 'sending the request to the inviter' },
  ConnectionRequestSent:      { words: 'waiting for the inviter to answer' },
  ConnectionResponseReceived: { words: 'connected', ends: 0 },
  ProblemReportPending:       { words: 'took too long; reporting it to the other side', ends: 5, isExpired: true },
  ProblemReportSent:          { words: 'took too long', ends: 5, isExpired: true },
  ProblemReportReceived:      { words: 'the other side reports a problem', ends: 5 },
}, [
  // role      from                         on                              to                            then
  ['Inviter', null,                        'POST /connections',            'InvitationGenerated'                          ],
  ['Inviter', 'InvitationGenerated',       'received request',             'ConnectionRequestReceived'                    ],
  ['Inviter', 'ConnectionRequestReceived', 'accept',                       'ConnectionResponsePending',  'send response'  ],
  ['Inviter', 'ConnectionResponsePending', 'sent',                         'ConnectionResponseSent'                       ],

  ['Invitee', null,                        'received invitation',          'InvitationReceived'                           ],
  ['Invitee', 'InvitationReceived',        'POST /connection-invitations', 'ConnectionRequestPending',   'send request'   ],
  ['Invitee', 'ConnectionRequestPending',  'sent',                         'ConnectionRequestSent'                        ],
  ['Invitee', 'ConnectionRequestSent',     'received response',            'ConnectionResponseReceived'                   ],
], [
  // Extensions: the Cloud Agent has no such transitions.
  ['Inviter', 'ConnectionResponseSent',    'received problem-report',      'ProblemReportReceived'                        ],
  ['Invitee', 'ConnectionRequestSent',     'received problem-report',      'ProblemReportReceived'                        ],
  ['Inviter', 'ConnectionResponsePending', 'flow expired',                 'ProblemReportPending',  'send problem-report' ],
  ['Invitee', 'ConnectionRequestPending',  'flow expired',                 'ProblemReportPending',  'send problem-report' ],
  ['Invitee', 'ConnectionRequestSent',     'flow expired',                 'ProblemReportPending',  'send problem-report' ],
  ['Inviter', 'ProblemReportPending',      'sent',                         'ProblemReportSent'                            ],
  ['Invitee', 'ProblemReportPending',      'sent',                         'ProblemReportSent'                            ],
])

export type ConnectionState = StateOf<typeof connectionStates>

/** The states in which both sides know each other, and other protocols may begin. */
export const connectedStates: readonly ConnectionState[] = [
  'ConnectionResponseSent',
  'ConnectionResponseReceived',
]
