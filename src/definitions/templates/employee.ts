/** Employee. */
import type { TemplateFile } from './model.ts'

export default {
  title: 'Employee',
  summary: 'Employment at an organisation',
  display: { backgroundColor: '#1a5fb4', textColor: '#ffffff' },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Employee',
    type: 'object',
    properties: {
      givenName: { type: 'string', title: 'Given name' },
      familyName: { type: 'string', title: 'Family name' },
      employeeId: { type: 'string', title: 'Employee number' },
      jobTitle: { type: 'string', title: 'Job title' },
      department: { type: 'string', title: 'Department' },
      organization: { type: 'string', title: 'Employer' },
      email: { type: 'string', title: 'E-mail address', format: 'email' },
      since: { type: 'string', title: 'Employed since', format: 'date' },
    },
    required: ['givenName', 'familyName', 'employeeId', 'organization'],
    additionalProperties: false,
  },
  example: {
    givenName: 'Alice',
    familyName: 'Smith',
    employeeId: 'E-1042',
    jobTitle: 'Engineer',
    department: 'Research',
    organization: 'Acme',
    email: 'alice@acme.example',
    since: '2024-03-01',
  },
} as const satisfies TemplateFile
