/** The API's description, OpenAPI 3.1, made from the routes and the zod contracts they declare. */

import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { z } from 'zod';
import { problemBody } from '../problems/problems.decorator.js';

/** Nest's own converter aims at OpenAPI 3.0, whose schemas are another dialect. */
function standardSchemaConverter(schema: unknown, { schemaType }: { schemaType: 'input' | 'output' }) {
  return schema instanceof z.ZodType ? converted(schema, schemaType) : undefined;
}

function converted(schema: z.ZodType, io: 'input' | 'output') {
  const {
    $schema: _,
    $defs = {},
    ...own
  } = z.toJSONSchema(schema, { target: 'draft-2020-12', io, unrepresentable: 'any' }) as Record<string, unknown>;
  return { schema: own, components: $defs as Record<string, object> };
}

export function describeApi(app: INestApplication): OpenAPIObject {
  const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Parley')
    .setDescription('Durable MCP calls that a person answers over REST')
    .setVersion('1')
    .addBearerAuth()
    .addGlobalResponse({ status: '4XX', description: 'A problem (RFC 9457) with a stable `code`', content: problem })
    .addGlobalResponse({ status: '5XX', description: 'A problem (RFC 9457) with a stable `code`', content: problem })
    .build();
  const document = SwaggerModule.createDocument(app, config, { standardSchemaConverter });
  // No route returns a problem by contract, so nothing else brings the component that they all refer to.
  Object.assign(((document.components ??= {}).schemas ??= {}), converted(problemBody, 'output').components);
  return document;
}

/** `/openapi.json` for programs and `/docs` for people; open to everybody where `openDocs` says so, else behind the door. */
export function serveDescription(app: INestApplication): void {
  let document: OpenAPIObject | undefined;
  SwaggerModule.setup('docs', app, () => (document ??= describeApi(app)), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Parley',
  });
}
