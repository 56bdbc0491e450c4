/** Person. */
import type { TemplateFile } from './model.ts'

export default {
  title: 'Person',
  summary: 'Who somebody is: name, date of birth and address',
  display: { backgroundColor: '#241f31', textColor: '#ffffff' },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Person',
    type: 'object',
    properties: {
      givenName: { type: 'string', title: 'Given name' },
      familyName: { type: 'string', title: 'Family name' },
      birthDate: { type: 'string', title: 'Date of birth', format: 'date' },
      nationality: { type: 'string', title: 'Nationality, such as DE', minLength: 2, maxLength: 3 },
      address: {
        type: 'object',
        title: 'Address',
        properties: {
          street: { type: 'string', title: 'Street' },
          postalCode: { type: 'string', title: 'Postal code' },
          city: { type: 'string', title: 'City' },
          country: { type: 'string', title: 'Country' },
        },
        additionalProperties: false,
      },
    },
    required: ['givenName', 'familyName', 'birthDate'],
    additionalProperties: false,
  },
  example: {
    givenName: 'Alice',
    familyName: 'Smith',
    birthDate: '2001-02-03',
    nationality: 'DE',
    address: { street: 'Main Street 1', postalCode: '12345', city: 'Berlin', country: 'DE' },
  },
} as const satisfies TemplateFile
