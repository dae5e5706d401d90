/** `/v1/invocations` (design §9). */

import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Res, SerializeOptions } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Actor } from '../auth/actor.js';
import { CurrentActor, RequiresScope } from '../auth/decorators.js';
import { ApiIdempotent, IdempotencyKey } from '../http/idempotency-key.js';
import { maxWaitSeconds, waitPreference } from '../http/prefer.js';
import { Problems } from '../problems/problems.decorator.js';
import { InvocationBody, InvocationPage, ListQuery, ResultBody, StartBody } from './invocations.contract.js';
import { InvocationsService } from './invocations.service.js';
import { StartingService } from './starting.service.js';

@ApiTags('invocations')
@Controller('v1/invocations')
@RequiresScope('calls:write')
export class InvocationsController {
  constructor(
    private readonly starting: StartingService,
    private readonly invocations: InvocationsService,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Start a call' })
  @ApiIdempotent()
  @ApiHeader({
    name: 'Prefer',
    required: false,
    description: `\`wait=N\`: wait up to N seconds, at most ${maxWaitSeconds}, for an outcome or a question`,
  })
  @ApiResponse({ status: 200, standardSchema: InvocationBody, description: 'It has an outcome' })
  @ApiResponse({ status: 202, standardSchema: InvocationBody, description: 'It goes on' })
  @Problems('subject_not_allowed', 'server_unknown', 'server_not_allowed', 'tool_unknown', 'arguments_too_large')
  @Problems('text_not_unicode')
  @Problems('idempotency_key_missing', 'idempotency_key_reused', 'temporal_unavailable', 'store_unavailable')
  @SerializeOptions({ schema: InvocationBody })
  async start(
    @CurrentActor() actor: Actor,
    @IdempotencyKey() key: string,
    @Headers('prefer') prefer: string | undefined,
    @Body({ schema: StartBody }) body: StartBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<InvocationBody> {
    const waitSeconds = waitPreference(prefer);
    const invocation = await this.starting.start(actor, key, body, waitSeconds ?? 0);
    if (waitSeconds !== undefined) response.setHeader('Preference-Applied', `wait=${waitSeconds}`);
    return sendAs(response, invocation);
  }

  @Get()
  @ApiOperation({ summary: 'My calls, newest first' })
  @ApiResponse({ status: 200, standardSchema: InvocationPage })
  @Problems('cursor_invalid')
  @SerializeOptions({ schema: InvocationPage })
  list(@CurrentActor() actor: Actor, @Query({ schema: ListQuery }) query: ListQuery): Promise<InvocationPage> {
    return this.invocations.list(actor, query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One call' })
  @ApiResponse({ status: 200, standardSchema: InvocationBody })
  @Problems('invocation_unknown')
  @SerializeOptions({ schema: InvocationBody })
  get(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<InvocationBody> {
    return this.invocations.get(actor, id);
  }

  @Get(':id/result')
  @ApiOperation({ summary: "The server's complete result, untrusted and exactly as it came" })
  @ApiResponse({ status: 200, standardSchema: ResultBody })
  @Problems('invocation_unknown', 'result_absent')
  result(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<unknown> {
    return this.invocations.result(actor, id);
  }

  @Post(':id/cancel')
  @HttpCode(202)
  @RequiresScope('calls:write', 'calls:operate')
  @ApiOperation({ summary: 'Cancel a call: an open question is withdrawn, nothing more is sent' })
  @ApiIdempotent()
  @ApiResponse({ status: 200, standardSchema: InvocationBody, description: 'It has an outcome already' })
  @ApiResponse({ status: 202, standardSchema: InvocationBody, description: 'It will end' })
  @Problems('invocation_unknown', 'idempotency_key_missing', 'idempotency_key_reused', 'temporal_unavailable')
  @SerializeOptions({ schema: InvocationBody })
  async cancel(
    @CurrentActor() actor: Actor,
    @IdempotencyKey() key: string,
    @Param('id') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<InvocationBody> {
    return sendAs(response, await this.invocations.cancel(actor, id, key));
  }

  @Post(':id/resume')
  @HttpCode(202)
  @RequiresScope('calls:write', 'calls:operate')
  @ApiOperation({ summary: 'Go on with a call that waits for somebody to act: its `reason` says for what' })
  @ApiIdempotent()
  @ApiResponse({ status: 200, standardSchema: InvocationBody, description: 'It has an outcome' })
  @ApiResponse({ status: 202, standardSchema: InvocationBody, description: 'It will try again' })
  @Problems('invocation_unknown', 'invocation_not_waiting', 'idempotency_key_missing', 'idempotency_key_reused')
  @Problems('temporal_unavailable')
  @SerializeOptions({ schema: InvocationBody })
  async resume(
    @CurrentActor() actor: Actor,
    @IdempotencyKey() key: string,
    @Param('id') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<InvocationBody> {
    return sendAs(response, await this.invocations.resume(actor, id, key));
  }
}

/** 200 with an outcome, 202 without one: the same body. */
function sendAs(response: Response, invocation: InvocationBody): InvocationBody {
  response.status(invocation.outcome === null ? 202 : 200);
  response.setHeader('Location', `/v1/invocations/${invocation.id}`);
  return invocation;
}
