/** `/v1/consents` (design §9): a person's inbox. */

import { Body, Controller, Get, HttpCode, Param, Post, Query, Res, SerializeOptions } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Actor } from '../auth/actor.js';
import { CurrentActor, RequiresScope } from '../auth/decorators.js';
import { ApiIdempotent, IdempotencyKey } from '../http/idempotency-key.js';
import { PageQuery } from '../http/page.contract.js';
import { Problems } from '../problems/problems.decorator.js';
import { AnsweringService } from './answering.service.js';
import {
  AnswerBody,
  AnsweredBody,
  ConsentBody,
  ConsentPage,
  OpenedBody,
  OpenedWish,
  WithdrawnBody,
} from './consents.contract.js';
import { ConsentsService } from './consents.service.js';
import { OpeningService } from './opening.service.js';
import { WithdrawingService } from './withdrawing.service.js';

@ApiTags('consents')
@Controller('v1/consents')
export class ConsentsController {
  constructor(
    private readonly consents: ConsentsService,
    private readonly answering: AnsweringService,
    private readonly opening: OpeningService,
    private readonly withdrawing: WithdrawingService,
  ) {}

  @Get()
  @RequiresScope('consents:read', 'consents:decide')
  @ApiOperation({ summary: 'What I am asked right now, newest first' })
  @ApiResponse({ status: 200, standardSchema: ConsentPage })
  @Problems('cursor_invalid')
  @SerializeOptions({ schema: ConsentPage })
  list(@CurrentActor() actor: Actor, @Query({ schema: PageQuery }) query: PageQuery): Promise<ConsentPage> {
    return this.consents.list(actor, query);
  }

  @Get(':id')
  @RequiresScope('consents:read', 'consents:decide')
  @ApiOperation({ summary: 'One question, open or closed' })
  @ApiResponse({ status: 200, standardSchema: ConsentBody })
  @Problems('consent_unknown')
  @SerializeOptions({ schema: ConsentBody })
  get(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<ConsentBody> {
    return this.consents.get(actor, id);
  }

  @Post(':id/opened')
  @HttpCode(200)
  @RequiresScope('consents:decide')
  @ApiOperation({ summary: 'Say that I open a URL; it may be repeated and is recorded once' })
  @ApiResponse({ status: 200, standardSchema: OpenedBody, description: 'It is on the audit record' })
  @Problems('consent_unknown', 'consent_answered', 'consent_withdrawn', 'consent_expired', 'url_unknown')
  @Problems('text_not_unicode', 'store_unavailable')
  @SerializeOptions({ schema: OpenedBody })
  opened(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body({ schema: OpenedWish }) wish: OpenedWish,
  ): Promise<OpenedBody> {
    return this.opening.opened(actor, id, wish);
  }

  @Post(':id/answer')
  @RequiresScope('consents:decide')
  @ApiOperation({ summary: 'Decide: one response for every input of the round' })
  @ApiIdempotent()
  @ApiResponse({ status: 200, standardSchema: AnsweredBody, description: 'The answer counts' })
  @ApiResponse({
    status: 202,
    standardSchema: AnsweredBody,
    description: 'The answer is stored; no worker is up to say whether it counts',
  })
  @Problems('consent_unknown', 'consent_answered', 'consent_withdrawn', 'consent_expired', 'answer_mismatch', 'answer_invalid')
  @Problems('binding_lost')
  @Problems('text_not_unicode', 'idempotency_key_missing', 'idempotency_key_reused', 'temporal_unavailable', 'store_unavailable')
  @SerializeOptions({ schema: AnsweredBody })
  async answer(
    @CurrentActor() actor: Actor,
    @IdempotencyKey() key: string,
    @Param('id') id: string,
    @Body({ schema: AnswerBody }) body: AnswerBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AnsweredBody> {
    const answered = await this.answering.answer(actor, id, key, body);
    response.status(answered.verdict === 'accepted' ? 200 : 202);
    return answered;
  }

  @Post(':id/withdraw')
  @HttpCode(202)
  @RequiresScope('calls:operate')
  @ApiOperation({ summary: 'Take an open question back, as an operator: its call ends as cancelled, and nothing is sent' })
  @ApiIdempotent()
  @ApiResponse({ status: 202, standardSchema: WithdrawnBody, description: 'It will be withdrawn, unless it is answered first' })
  @Problems('consent_unknown', 'consent_answered', 'consent_withdrawn', 'consent_expired')
  @Problems('idempotency_key_missing', 'idempotency_key_reused', 'temporal_unavailable', 'store_unavailable')
  @SerializeOptions({ schema: WithdrawnBody })
  withdraw(@CurrentActor() actor: Actor, @IdempotencyKey() key: string, @Param('id') id: string): Promise<WithdrawnBody> {
    return this.withdrawing.withdraw(actor, id, key);
  }
}
