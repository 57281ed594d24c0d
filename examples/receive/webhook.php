<?php
// SGW_WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:8080 webhook.php
// In Laravel and Symfony the raw body is $request->getContent().
$body = file_get_contents('php://input');
$timestamp = $_SERVER['HTTP_X_GATEWAY_TIMESTAMP'] ?? '';
$expected = 'sha256=' . hash_hmac('sha256', "$timestamp.$body", getenv('SGW_WEBHOOK_SECRET'));
$isFresh = ctype_digit($timestamp) && abs(time() - (int) $timestamp) <= 300;
$isGenuine = $isFresh && hash_equals($expected, $_SERVER['HTTP_X_GATEWAY_SIGNATURE'] ?? '');
http_response_code($isGenuine ? 204 : 401);
if (!$isGenuine) exit;
$event = json_decode($body, true);
error_log("{$event['type']} {$event['from']} {$event['body']}");
